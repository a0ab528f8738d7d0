#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heddle {

namespace {

constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kBetween{100};

bool can_draw() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

// "812", "4.2 M": three digits are enough on a line that changes ten times a second.
std::string rounded(double number) {
  if (number >= 1e9) return fmt::format("{:.1f} G", number / 1e9);
  if (number >= 1e6) return fmt::format("{:.1f} M", number / 1e6);
  if (number >= 1e3) return fmt::format("{:.0f} k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(can_draw()), started_(Clock::now()), next_(started_ + kPatience) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

bool Progress::is_time_to_draw() {
  if (!terminal_) return false;
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + kBetween;
  drawn_ = true;
  return true;
}

void Progress::update(uint64_t events, const TraceSource& source) {
  if (!is_time_to_draw()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const double part = source.progress();
  const auto count = static_cast<double>(events);
  fmt::print(stderr, "\r{}: {}{} events, {} events/s\x1b[K", what_,
             part < 0 ? "" : fmt::format("{:.0f} %, ", part * 100), rounded(count), rounded(count / seconds));
}

void Progress::update(double part) {
  if (!is_time_to_draw()) return;
  constexpr int kBarWidth = 30;
  const int done = static_cast<int>(part * kBarWidth);
  fmt::print(stderr, "\r{}: searching schedules [{:#<{}}{:.<{}}] {:.0f} %\x1b[K", what_, "", done, "",
             kBarWidth - done, part * 100);
}

}  // namespace heddle
