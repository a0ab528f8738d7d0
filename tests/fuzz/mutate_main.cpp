// Runs a fuzz target on random mutations of valid inputs, the same ones for the same seed, with any compiler.
//
//     fuzz_binary_reader --mutations 10000000 --seed 7      a long run
//     fuzz_binary_reader --seed 7 --replay 123456           one input again, after a failure
//     … --replay 123456 --save input.bin                    and keep it
//     … run.heddle                                          starts from this file too
//
// A failure (a crash, a sanitizer's report, an exception that is not the reader's answer to bad input, or an
// input that takes longer than a minute) ends the run with a line that says how to replay it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/file.h"
#include "target.h"

// Present when a sanitizer is.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

// Speed matters more here than reports with full stacks, since every failure can be replayed. Bad inputs mean
// exceptions, and each would make the address sanitizer search its stacks of returned functions.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:malloc_context_size=1:quarantine_size_mb=4";
}

namespace heddle::fuzz {
namespace {

constexpr std::size_t kLongestInput = std::size_t{64} * 1024;
constexpr unsigned kPatience = 60;  // seconds

uint64_t running_seed = 0;
uint64_t running_iteration = 0;

void say_how_to_replay() {
  std::fprintf(stderr, "\nfuzz: failed; replay with --seed %llu --replay %llu\n",
               static_cast<unsigned long long>(running_seed),
               static_cast<unsigned long long>(running_iteration));
}

void on_signal(int signal) {
  if (signal == SIGALRM) std::fprintf(stderr, "\nfuzz: no answer for %u seconds", kPatience);
  say_how_to_replay();
  _exit(1);
}

void on_sanitizer_report() { say_how_to_replay(); }

// splitmix64: unlike the standard's generators, it costs nothing to start, which every iteration does.
struct Random {
  uint64_t state = 0;

  uint64_t operator()() {
    uint64_t mixed = state += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
    return mixed ^ mixed >> 31;
  }
};

class Mutator {
 public:
  Mutator(std::vector<std::string> inputs, std::vector<std::string> tokens)
      : inputs_(std::move(inputs)), tokens_(std::move(tokens)) {}

  // The input of one iteration; it depends on nothing but the two numbers.
  std::string input(uint64_t seed, uint64_t iteration) {
    random_ = Random{seed << 40 ^ iteration << 8};
    std::string bytes = inputs_[below(inputs_.size())];
    for (std::size_t i = 1 + below(4); i > 0; --i) mutate(bytes);
    if (bytes.size() > kLongestInput) bytes.resize(kLongestInput);
    if (below(2) == 0) repair(bytes, random_());
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void mutate(std::string& bytes) {
    if (bytes.empty()) bytes = tokens_[below(tokens_.size())];  // none of which is empty
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(bytes.size() - at, 64));
    switch (below(10)) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8))); return;
      case 1: bytes[at] = static_cast<char>(below(256)); return;
      case 2:
      case 3: return set_number(bytes, at);
      case 4: bytes.resize(at); return;
      case 5: bytes.erase(at, length); return;
      case 6: bytes.insert(below(bytes.size()), bytes.substr(at, length)); return;
      case 7: bytes.insert(at, tokens_[below(tokens_.size())]); return;
      case 8: {
        const std::string& other = inputs_[below(inputs_.size())];
        bytes.replace(at, length, other, below(other.size()), 1 + below(64));
        return;
      }
      default: {
        const std::string& other = inputs_[below(inputs_.size())];
        bytes.replace(at, std::string::npos, other, below(other.size()), std::string::npos);
        return;
      }
    }
  }

  // Where a format has a number, the values next to it and at the ends of its range are the dangerous ones.
  void set_number(std::string& bytes, std::size_t at) {
    const std::size_t width = std::min<std::size_t>(std::size_t{1} << below(4), bytes.size() - at);
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    switch (below(6)) {
      case 0: ++value; break;
      case 1: --value; break;
      case 2: value = 0; break;
      case 3: value = UINT64_MAX; break;
      case 4: value = uint64_t{1} << below(8 * width); break;
      default: value = (uint64_t{1} << below(8 * width)) - 1; break;
    }
    std::memcpy(bytes.data() + at, &value, width);
  }

  Random random_;
  std::vector<std::string> inputs_;
  std::vector<std::string> tokens_;
};

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

}  // namespace
}  // namespace heddle::fuzz

int main(int argc, char** argv) {
  using namespace heddle::fuzz;
  CLI::App app("Random mutations of valid inputs");
  uint64_t mutations = 100000;
  uint64_t seed = 1;
  uint64_t replay = 0;
  std::string save;
  std::vector<std::string> files;
  app.add_option("--mutations", mutations, "how many inputs to try");
  app.add_option("--seed", seed, "which inputs to try");
  const auto* replay_option = app.add_option("--replay", replay, "try only the input with this number");
  app.add_option("--save", save, "with --replay: where to keep the input");
  app.add_option("files", files, "valid inputs to start from, besides the built-in ones");
  CLI11_PARSE(app, argc, argv);

  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(on_sanitizer_report);
  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);

  std::vector<std::string> inputs = seeds();
  for (const std::string& file : files) inputs.push_back(heddle::read_whole_file(file));
  for (const std::string& input : inputs) run(input);
  Mutator mutator(std::move(inputs), tokens());
  const bool once = replay_option->count() > 0;
  running_seed = seed;
  const uint64_t first = once ? replay : 0;
  const uint64_t end = once ? replay + 1 : mutations;
  try {
    for (uint64_t i = first; i < end; ++i) {
      running_iteration = i;
      if (i % 1024 == 0 || once) alarm(kPatience);
      if (i > 0 && i % 1000000 == 0)
        std::printf("fuzz: %llu million mutations\n", static_cast<unsigned long long>(i / 1000000)),
            std::fflush(stdout);
      const std::string input = mutator.input(seed, i);
      if (once && !save.empty()) {
        heddle::OutputFile file(save);
        file.write(input);
        file.commit();
      }
      run(input);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s\n", error.what());
    say_how_to_replay();
    return 1;
  }
  std::printf("fuzz: %llu mutations, no failure\n", static_cast<unsigned long long>(end - first));
  return 0;
}
