#include "symbols/object_file.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "symbols/readable_name.h"
#include "symbols/type_walk.h"

namespace heddle {

namespace {

// Where the system keeps its own libraries. Of these the function's name is enough, and unpacking their debug
// information would cost every run more than all else at its start.
bool is_of_system(const std::string& path) {
  std::error_code error;
  const std::string file = std::filesystem::weakly_canonical(path, error).string();
  return file.starts_with("/usr/lib/") || file.starts_with("/lib/") || file.starts_with("/lib64/");
}

// Read from files opened anew: what libelf has read of a file, tables and names, it keeps until it is closed.
std::unique_ptr<SymbolTable> symbols_of(const std::string& path, const ElfFile* debug_file) {
  const std::unique_ptr<ElfFile> file = ElfFile::open(path);
  const std::unique_ptr<ElfFile> debug = debug_file == nullptr ? nullptr : ElfFile::open(debug_file->path());
  std::vector<const ElfFile*> files;
  if (file) files.push_back(file.get());
  if (debug) files.push_back(debug.get());
  return std::make_unique<SymbolTable>(files);
}

}  // namespace

ObjectFile::ObjectFile(const std::string& path)
    : name_(std::filesystem::path(path).filename().string()), file_(ElfFile::open(path)) {
  if (!file_) return;
  if (!holds_debug_info(*file_) && !is_of_system(path)) debug_file_ = open_debug_file(*file_);
  debug_ = DebugInfo::open(debug_file_ ? *debug_file_ : *file_, *file_);
  symbols_ = symbols_of(path, debug_file_.get());
}

std::vector<std::string> ObjectFile::frames(uint64_t address) {
  const SymbolTable::Symbol* symbol = symbols_ ? symbols_->function_at(address) : nullptr;
  const std::string linker_name = symbol != nullptr ? symbol->name : "";
  std::vector<std::string> texts;
  if (debug_) {
    for (const SourceFrame& frame : debug_->frames(address, linker_name)) {
      if (frame.file.empty() && frame.function.empty()) continue;
      if (frame.file.empty()) {
        texts.push_back(fmt::format("in {} ({})", frame.function, name_));
        continue;
      }
      std::string text = fmt::format("{}:{}", frame.file, frame.line);
      if (frame.line != 0 && frame.column != 0) text += fmt::format(":{}", frame.column);
      if (!frame.function.empty()) text += " in " + frame.function;
      texts.push_back(std::move(text));
    }
  }
  if (texts.empty() && symbol != nullptr)
    texts.push_back(fmt::format("in {} ({})", readable_function(demangled(linker_name)), name_));
  if (texts.empty()) texts.push_back(fmt::format("{}+{:#x}", name_, address));
  return texts;
}

std::string ObjectFile::data_name(uint64_t address) {
  if (const DebugInfo::Variable* variable = debug_ ? debug_->variable_before(address) : nullptr) {
    Dwarf_Die declaration = dwarf::declaration(variable->die);
    // An array may be declared without the size that its definition has.
    std::optional<Dwarf_Die> type = dwarf::reference(variable->die, DW_AT_type);
    if (!type) type = dwarf::reference(declaration, DW_AT_type);
    const uint64_t offset = address - variable->begin;
    const std::optional<uint64_t> size = type ? type_size(*debug_, *type) : std::nullopt;
    const std::string name = readable_type(debug_->qualified_name(declaration));
    if (!name.empty() && type && offset < size.value_or(1)) return name + member_path(*debug_, *type, offset);
  }
  const SymbolTable::Symbol* symbol = symbols_ ? symbols_->variable_at(address) : nullptr;
  if (symbol == nullptr) return {};
  const std::string name = readable_variable(demangled(symbol->name));
  return address == symbol->begin ? name : fmt::format("{}+{}", name, address - symbol->begin);
}

std::string ObjectFile::field_name(uint64_t code, uint64_t offset) {
  const std::optional<Dwarf_Die> type = debug_ ? debug_->class_at(code) : std::nullopt;
  if (!type || offset >= type_size(*debug_, *type).value_or(0)) return {};
  const std::string path = member_path(*debug_, *type, offset);
  return path.starts_with('.') ? path.substr(1) : path;
}

std::string ObjectFile::class_name(uint64_t code) {
  const std::optional<Dwarf_Die> type = debug_ ? debug_->class_at(code) : std::nullopt;
  return type ? readable_type(debug_->qualified_name(*type)) : "";
}

uint64_t ObjectFile::class_size(uint64_t code) {
  const std::optional<Dwarf_Die> type = debug_ ? debug_->class_at(code) : std::nullopt;
  return type ? type_size(*debug_, *type).value_or(0) : 0;
}

std::string ObjectFile::text_at(uint64_t address) const { return file_ ? file_->text_at(address) : ""; }

}  // namespace heddle
