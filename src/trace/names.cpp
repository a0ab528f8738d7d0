#include "trace/names.h"

namespace heddle {

namespace {

constexpr std::string_view kCallSeparator = " < ";

}  // namespace

SiteId SiteTable::append(Site site) {
  sites_.push_back(site);
  return size() - 1;
}

SiteId SiteTable::intern(std::string_view text, StringTable& frames) {
  if (text.empty()) return kNoId;
  const uint32_t text_id = texts_.intern(text);
  if (text_id < site_of_text_.size()) return site_of_text_[text_id];
  // From the outermost caller inwards, so that stacks share their callers.
  SiteId site = kNoId;
  for (std::size_t end = text.size();;) {
    const std::size_t call = text.substr(0, end).rfind(kCallSeparator);
    const std::size_t begin = call == std::string_view::npos ? 0 : call + kCallSeparator.size();
    const Site next{frames.intern(text.substr(begin, end - begin)), site};
    const auto [known, is_new] = interned_.try_emplace(uint64_t{next.frame} << 32 | next.caller, size());
    site = is_new ? append(next) : known->second;
    if (begin == 0) break;
    end = call;
  }
  site_of_text_.push_back(site);
  return site;
}

std::vector<std::string> Names::frames(SiteId site) const {
  std::vector<std::string> result;
  for (; site != kNoId; site = sites_[site].caller)
    result.emplace_back(name(Space::kFrame, sites_[site].frame));
  return result;
}

std::string Names::site_text(SiteId site) const {
  std::string text;
  append_site_text(text, site);
  return text;
}

void Names::append_site_text(std::string& to, SiteId site) const {
  while (site != kNoId) {
    to += name(Space::kFrame, sites_[site].frame);
    site = sites_[site].caller;
    if (site != kNoId) to += kCallSeparator;
  }
}

std::string operation_text(const Event& event, const Names& names) {
  std::string text;
  append_operation_text(text, event, names);
  return text;
}

void append_operation_text(std::string& to, const Event& event, const Names& names) {
  if (event.operation == Operation::kNested) {
    to += "nested";
    return;
  }
  const OperationInfo& operation = info(event.operation);
  to += operation.spelling;
  // "(first)", or "(first,second)".
  const auto add = [&](std::string_view first, std::string_view second = {}) {
    to += '(';
    to += first;
    if (!second.empty()) {
      to += ',';
      to += second;
    }
    to += ')';
  };
  // Where an access's value goes, or comes from.
  const auto add_local = [&] {
    if (event.local == kNoId) return;
    to += local_arrow(event.operation);
    to += names.name(Space::kLocal, event.local);
  };
  const std::string_view object = names.name(operation.space, event.object);
  const std::string_view order = kOrderSpelling[static_cast<std::size_t>(event.order)];
  switch (operation.operands) {
    case Operands::kNone: return;
    case Operands::kName: return add(object);
    case Operands::kAcquisition:
      return add(object, event.tries ? "try" : is_together(event) ? "together" : "");
    case Operands::kEndOfLife: return add(object, event.tries ? "checked" : "");
    case Operands::kSync: return add(object, order);
    case Operands::kOptionalName:
      if (event.object != kNoId) add(object);
      return;
    case Operands::kBlock:
      if (event.operation == Operation::kBeginDeterministic) return add(object, "deterministic");
      if (event.object != kNoId) add(object);
      return;
    case Operands::kOrder: add(object, order); return add_local();
    case Operands::kFence:
      if (event.order != MemoryOrder::kSeqCst) add(order);
      return;
    case Operands::kNumber: return add(object, names.name(Space::kValue, event.value));
    case Operands::kRead:
    case Operands::kWrite: add(object, names.name(Space::kValue, event.value)); return add_local();
    case Operands::kAssign: return add(object, names.name(Space::kLocalList, event.local));
  }
}

}  // namespace heddle
