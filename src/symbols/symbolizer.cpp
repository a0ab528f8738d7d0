#include "symbols/symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "symbols/object_file.h"

namespace heddle {

Symbolizer::Symbolizer() = default;
Symbolizer::~Symbolizer() = default;

void Symbolizer::add(Module module) {
  std::erase_if(frames_, [&](const auto& known) {
    return known.first - 1 >= module.begin && known.first - 1 < module.end;
  });
  modules_.push_back(std::move(module));
}

const Module* Symbolizer::module_at(uint64_t address) const {
  const auto found = std::find_if(modules_.rbegin(), modules_.rend(), [&](const Module& module) {
    return address >= module.begin && address < module.end;
  });
  return found != modules_.rend() ? &*found : nullptr;
}

ObjectFile& Symbolizer::file_of(const Module& module) {
  std::unique_ptr<ObjectFile>& file = files_[module.path];
  if (!file) file = std::make_unique<ObjectFile>(module.path);
  return *file;
}

const std::vector<std::string>& Symbolizer::frames(uint64_t pc) {
  const auto [known, is_new] = frames_.try_emplace(pc);
  if (!is_new) return known->second;
  if (const Module* module = module_at(pc - 1)) {
    known->second = file_of(*module).frames(pc - 1 - module->bias);
  } else {
    known->second = {fmt::format("{:#x}", pc)};
  }
  return known->second;
}

bool Symbolizer::any_module_in(uint64_t begin, uint64_t end) const {
  return std::any_of(modules_.begin(), modules_.end(),
                     [&](const Module& module) { return begin < module.end && module.begin < end; });
}

std::string Symbolizer::data_name(uint64_t address) {
  const Module* module = module_at(address);
  return module != nullptr ? file_of(*module).data_name(address - module->bias) : "";
}

Symbolizer::Class Symbolizer::class_at(uint64_t pc) {
  const Module* module = module_at(pc - 1);
  if (module == nullptr) return {};
  ObjectFile& file = file_of(*module);
  const uint64_t code = pc - 1 - module->bias;
  return {.name = file.class_name(code), .size = file.class_size(code)};
}

std::string Symbolizer::field_name(uint64_t pc, uint64_t offset) {
  const Module* module = module_at(pc - 1);
  return module != nullptr ? file_of(*module).field_name(pc - 1 - module->bias, offset) : "";
}

std::string Symbolizer::text_at(uint64_t address) {
  const Module* module = module_at(address);
  return module != nullptr ? file_of(*module).text_at(address - module->bias) : "";
}

}  // namespace heddle
