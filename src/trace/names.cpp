#include "trace/names.h"

#include <fmt/format.h>

#include "base/text.h"

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
  site_of_text_.push_back(kNoId);  // takes text_id's place before the caller takes the next one
  const std::size_t call = text.find(kCallSeparator);
  Site site;
  site.frame = frames.intern(text.substr(0, call));
  if (call != std::string_view::npos) site.caller = intern(text.substr(call + kCallSeparator.size()), frames);
  return site_of_text_[text_id] = append(site);
}

std::vector<std::string> Names::frames(SiteId site) const {
  std::vector<std::string> result;
  for (; site != kNoId; site = sites_[site].caller)
    result.emplace_back(name(Space::kFrame, sites_[site].frame));
  return result;
}

std::string Names::site_text(SiteId site) const {
  return fmt::format("{}", fmt::join(frames(site), kCallSeparator));
}

std::string operation_text(const Event& event, const Names& names) {
  if (event.operation == Operation::kNested) return "nested";
  const OperationInfo& operation = info(event.operation);
  const std::string_view object = names.name(operation.space, event.object);
  std::string text(operation.spelling);
  const auto with = [&](std::string_view operands) { return fmt::format("{}({})", text, operands); };
  switch (operation.operands) {
    case Operands::kNone: return text;
    case Operands::kName: return with(object);
    case Operands::kOptionalName: return event.object == kNoId ? text : with(object);
    case Operands::kBlock:
      if (event.operation == Operation::kBeginDeterministic)
        return fmt::format("{}({},deterministic)", text, object);
      return event.object == kNoId ? text : with(object);
    case Operands::kOrder:
      return fmt::format("{}({},{})", text, object, kOrderSpelling[static_cast<std::size_t>(event.order)]);
    case Operands::kFence:
      if (event.order == MemoryOrder::kSeqCst) return text;
      return with(kOrderSpelling[static_cast<std::size_t>(event.order)]);
    case Operands::kRead:
    case Operands::kWrite:
      text = event.value == kNoId
                 ? with(object)
                 : fmt::format("{}({},{})", text, object, names.name(Space::kValue, event.value));
      if (event.local != kNoId) {
        text += operation.operands == Operands::kRead ? '>' : '<';
        text += names.name(Space::kLocal, event.local);
      }
      return text;
    case Operands::kAssign:
      if (event.local == kNoId) return with(object);
      return fmt::format("{}({},{})", text, object, names.name(Space::kLocalList, event.local));
  }
  return text;
}

}  // namespace heddle
