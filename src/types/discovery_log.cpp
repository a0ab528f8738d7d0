#include "types/discovery_log.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace heddle::types {

namespace {

constexpr std::string_view kVersionLine = "# heddle discovery 1";

uint64_t number(std::string_view text, const std::string& where) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(fmt::format("{}: '{}' is not a number", where, shortened(printable(text))));
  return value;
}

}  // namespace

void FieldLog::add(const FieldLog& other) {
  objects += other.objects;
  shared += other.shared;
  handed_over += other.handed_over;
  written_shared += other.written_shared;
  accesses += other.accesses;
  shared_accesses += other.shared_accesses;
  for (const auto& [lock, count] : other.locks) locks[lock] += count;
}

void DiscoveryLog::add(const DiscoveryLog& other) {
  runs += other.runs;
  for (const auto& [name, field] : other.fields) fields[name].add(field);
}

std::string DiscoveryLog::text() const {
  std::string text = fmt::format("{}\nruns\t{}\n", kVersionLine, runs);
  for (const auto& [name, field] : fields) {
    text += fmt::format("field\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", name, field.objects, field.shared,
                        field.handed_over, field.written_shared, field.accesses, field.shared_accesses);
    for (const auto& [lock, count] : field.locks) text += fmt::format("lock\t{}\t{}\n", lock, count);
  }
  return text;
}

DiscoveryLog DiscoveryLog::parse(std::string_view text, const std::string& file) {
  DiscoveryLog log;
  FieldLog* field = nullptr;
  std::size_t line_number = 0;
  for (const std::string_view line : split(text, "\n")) {
    const std::string where = fmt::format("{}:{}", file, ++line_number);
    if (line_number == 1) {
      if (line != kVersionLine)
        throw InputError(
            fmt::format("{}: no log of a run: it does not begin with '{}'; 'heddle types discover' makes one",
                        where, kVersionLine));
      continue;
    }
    if (line.empty()) continue;
    const std::vector<std::string_view> words = split(line, "\t");
    if (words[0] == "runs" && words.size() == 2) {
      log.runs = number(words[1], where);
    } else if (words[0] == "field" && words.size() == 8) {
      field = &log.fields[std::string(words[1])];
      uint64_t* const counts[] = {&field->objects,        &field->shared,   &field->handed_over,
                                  &field->written_shared, &field->accesses, &field->shared_accesses};
      for (std::size_t i = 0; i < 6; ++i) *counts[i] += number(words[i + 2], where);
    } else if (words[0] == "lock" && words.size() == 3 && field != nullptr) {
      field->locks[std::string(words[1])] += number(words[2], where);
    } else {
      throw InputError(fmt::format("{}: '{}' is no line of a log", where, shortened(printable(line))));
    }
  }
  return log;
}

}  // namespace heddle::types
