// Memory that the C library keeps a pointer to. Iteration 0 uses it, then 1 changes or looks at it, then 0
// uses it again; the twins `CASE_together` do all that in one turn.
#include <heddle/heddle.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "interleave.h"

#ifdef FIRST_TOKEN
char* first_token(char* text);  // of Inputs/first_token.cpp, which tells nothing
#else
static char* first_token(char* text) { return std::strtok(text, ","); }
#endif

namespace {

long results[2];
bool is_together = false;
std::mutex mutex;

void between(const std::function<void()>& first, const std::function<void()>& other,
             const std::function<void()>& second) {
  const auto turn = [](const std::function<void()>& act) {
    const std::lock_guard<std::mutex> locked(mutex);
    act();
  };
  heddle::parallel_for(0, 2, [&](int i) {
    if (i == 1) {
      interleave::wait_for(1);
      turn(other);
      return interleave::end_turn();
    }
    turn(first);
    if (is_together) turn(second);
    interleave::end_turn();
    interleave::wait_for(2);
    if (!is_together) turn(second);
  });
  heddle::focus(results);
}

char text[] = "one,two,six";
// The place that it has come to, and the text there.
void token() {
  between([] { results[0] = first_token(text)[0]; },
          [] {
            if (text[3] == 0) text[4] = 'w';
          },
          [] { results[0] += std::strtok(nullptr, ",")[0]; });
}
// It is one for all: the second token is one of the other's text.
char other_text[] = "ten,six";
void token_of_another() {
  between([] { results[0] = first_token(text)[0]; }, [] { results[1] = first_token(other_text)[0]; },
          [] { results[0] += std::strtok(nullptr, ",")[0]; });
}

char variable[] = "HEDDLE_KEPT=1";
// The variable's name is the program's memory.
void in_environment() {
  ::putenv(variable);
  between([] { results[0] = std::getenv("HEDDLE_KEPT") != nullptr ? 1 : 2; }, [] { variable[0] = 'X'; },
          [] { results[1] = std::getenv("HEDDLE_KEPT") != nullptr ? 1 : 2; });
}
void of_environment() {
  between([] { results[0] = std::getenv("HEDDLE_OTHER") != nullptr ? 1 : 2; },
          [] { ::setenv("HEDDLE_OTHER", "1", 1); },
          [] { results[1] = std::getenv("HEDDLE_OTHER") != nullptr ? 1 : 2; });
}
void without_variable() {
  ::setenv("HEDDLE_OTHER", "1", 1);
  between([] { results[0] = std::getenv("HEDDLE_OTHER") != nullptr ? 1 : 2; },
          [] { ::unsetenv("HEDDLE_OTHER"); },
          [] { results[1] = std::getenv("HEDDLE_OTHER") != nullptr ? 1 : 2; });
}

char buffer[64];
// What the stream has not written yet.
void in_stream() {
  FILE* const file = std::fopen("/dev/null", "w");
  std::setvbuf(file, buffer, _IOFBF, sizeof(buffer));
  between([file] { std::fputs("a", file); }, [] { results[1] = buffer[0] + buffer[1]; },
          [file] { std::fputc('b', file); });
  std::fclose(file);
}
// What comes before, and what after the other's turn: it is no race.
void order_turns() { const std::lock_guard<std::mutex> locked(mutex); }
// 1 looks while the stream is being written to: between what was in the buffer and what comes next.
ssize_t write_in_between(void*, const char*, std::size_t size) {
  if (!is_together) {
    order_turns();
    interleave::end_turn();
    interleave::wait_for(2);
    order_turns();
  }
  return static_cast<ssize_t>(size);
}
void in_call() {
  cookie_io_functions_t functions = {};
  functions.write = write_in_between;
  FILE* const file = ::fopencookie(nullptr, "w", functions);
  std::setvbuf(file, buffer, _IOFBF, 4);
  for (int i = 0; i < 4; ++i) std::fputc('a', file);
  heddle::parallel_for(0, 2, [&](int i) {
    if (i == 1) {
      interleave::wait_for(1);
      {
        const std::lock_guard<std::mutex> locked(mutex);
        results[1] = buffer[0];
      }
      return interleave::end_turn();
    }
    std::fputc('e', file);
    if (is_together) interleave::end_turn();
  });
  heddle::focus(results);
}
// The buffer was that of another stream, which has the same place.
void of_closed_stream() {
  FILE* const closed = std::fopen("/dev/null", "w");
  const auto place = reinterpret_cast<std::uintptr_t>(closed);
  std::setvbuf(closed, buffer, _IOFBF, sizeof(buffer));
  std::fclose(closed);
  FILE* const file = std::fopen("/dev/null", "w");
  if (reinterpret_cast<std::uintptr_t>(file) != place) std::exit(1);  // it proves nothing then
  between([file] { std::fputs("a", file); }, [] { results[1] = buffer[0] + buffer[1]; },
          [file] { std::fputc('b', file); });
  std::fclose(file);
}

}  // namespace

int main(int, char** arguments) {
  std::string name = arguments[1];
  const std::string twin = "_together";
  if (name.ends_with(twin)) {
    is_together = true;
    name.resize(name.size() - twin.size());
  }
  const std::map<std::string, void (*)()> cases = {{"token", token},
                                                   {"token_of_another", token_of_another},
                                                   {"in_environment", in_environment},
                                                   {"of_environment", of_environment},
                                                   {"without_variable", without_variable},
                                                   {"in_stream", in_stream},
                                                   {"in_call", in_call},
                                                   {"of_closed_stream", of_closed_stream}};
  cases.at(name)();
  std::printf("%ld %ld\n", results[0], results[1]);
}
