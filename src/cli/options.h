// Declaring options, and walking over those declared: --help, the manual page and the completion script are
// all made from the same CLI11 tree, so none of them can go stale.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

// The name of what an option takes, as help shows it. A type in lower case ("text|json") lists all values
// there are.
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kCheckersType = "LIST";  // checkers, separated by commas
inline constexpr const char* kRuleType = "RULE";
inline constexpr const char* kNumberType = "N";

// An option that takes one of the values in `choices` ("text|json|sarif"). The last one given counts.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::string& choices, const std::string& description);

// An option that takes a number from `least` to `most`; k, M and G after it stand for thousands, millions,
// billions.
CLI::Option* add_number(CLI::App& app, const std::string& name, uint64_t& value, uint64_t least,
                        uint64_t most, const std::string& description);

// An option that takes any text. The last one given counts.
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& type,
                      const std::string& description);

// An option that can be given several times, one value each.
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& type, const std::string& description);

// Arguments that stand after '--' and are not for us. One such at most, after the others.
CLI::Option* add_arguments_after_mark(CLI::App& app, const std::string& name,
                                      std::vector<std::string>& values, const std::string& description);
// The one that was declared so; null when there is none.
CLI::Option* arguments_after_mark(CLI::App& app);

// The subcommands right below `app`, in order of declaration; not those that are not for people.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
// The one of that name; null when there is none.
const CLI::App* find_subcommand(const CLI::App& app, std::string_view name);
// Its arguments without a dash, in order.
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);
// Its options with a dash, in order, --help last.
std::vector<const CLI::Option*> flags_of(const CLI::App& app);
// "--output", "--format": the long names of an option, with dashes.
std::vector<std::string> long_names(const CLI::Option& option);
// What the option takes ("FILE"), empty for a mere flag.
std::string value_type(const CLI::Option& option);
// The values an option of this type can have, when there is a list of them.
std::vector<std::string> known_values(const CLI::Option& option);
// "heddle trace info".
std::string full_name(const CLI::App& app);
// "heddle trace info [OPTIONS] FILE…".
std::string usage_line(const CLI::App& app);
// "-o, --output FILE".
std::string option_synopsis(const CLI::Option& option);

// `text` with its lines broken at spaces so that none is longer than `width` where that can be helped.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// CLI11's complaint in our words.
std::string explanation_of(const CLI::ParseError& error);

// Throws InputError that names the first argument nobody took, and what was probably meant.
void refuse_unknown_arguments(const CLI::App& app);

}  // namespace heddle
