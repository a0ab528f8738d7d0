#include "cli/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <csignal>
#include <vector>

#include "base/text.h"

namespace heddle {

namespace {

constinit std::atomic<uint32_t> asked_of_us{0};
static_assert(std::atomic<uint32_t>::is_always_lock_free);  // a signal's handler counts

// " at bank.cpp:31:5 in transfer", " in transfer"; empty where that is not known.
std::string at(SiteId site, const Names& names) {
  const std::vector<std::string> frames = site == kNoId ? std::vector<std::string>() : names.frames(site);
  if (frames.empty()) return {};
  return (frames.front().starts_with("in ") ? " " : " at ") + printable(frames.front());
}

std::string awaited_text(const Wait& wait, const Waits& waits, const Names& names) {
  const auto object = [&](Space space) { return printable(names.name(space, wait.object)); };
  switch (wait.what) {
    case Wait::For::kNothing: break;
    case Wait::For::kCondition: return object(Space::kCondition);
    case Wait::For::kSemaphore: return object(Space::kSemaphore);
    case Wait::For::kBarrier: return object(Space::kBarrier);
    case Wait::For::kThread: return fmt::format("the end of {}", object(Space::kThread));
    case Wait::For::kLock:
    case Wait::For::kSharedLock: {
      std::vector<std::string> holders;
      for (const ThreadId holder : waits.awaited(wait)) holders.push_back(printable(names.thread(holder)));
      if (holders.empty()) return object(Space::kLock);
      return fmt::format("{}, which {} {},", object(Space::kLock), join_with_and(holders),
                         holders.size() == 1 ? "holds" : "hold");
    }
  }
  return {};
}

// "T1 waits for cv at queue.cpp:12:3 in pop"
std::string wait_text(ThreadId id, const Waits& waits, const Names& names) {
  const Wait& wait = waits.threads()[id].wait;
  return fmt::format("{} waits for {}{}", printable(names.thread(id)), awaited_text(wait, waits, names),
                     at(wait.site, names));
}

std::string thread_text(ThreadId id, const Waits& waits, const Names& names) {
  const Waits::Thread& thread = waits.threads()[id];
  std::string text = fmt::format("  {} ", printable(names.thread(id)));
  if (thread.wait.what != Wait::For::kNothing) {
    text = fmt::format("  {}\n", wait_text(id, waits, names));
  } else if (thread.last != kNoId) {
    text += fmt::format("runs; it was last seen{}\n", at(thread.last, names));
  } else {
    text += "runs\n";
  }
  for (const TakenLock& taken : waits.held_by(id))
    text += fmt::format("    holds {}{}{}{}\n", printable(names.lock(taken.lock)),
                        taken.is_shared ? " shared" : "", taken.site == kNoId ? "" : ", taken",
                        at(taken.site, names));
  return text;
}

}  // namespace

void listen_for_questions() {
  std::signal(SIGUSR2, [](int) { asked_of_us.fetch_add(1); });
}

Questions::Questions(const runtime::Channel& channel) : channel_(channel), answered_(asked()) {}

uint32_t Questions::asked() const { return asked_of_us.load() + channel_.questions.load(); }

bool Questions::any() {
  const uint32_t now = asked();
  return std::exchange(answered_, now) != now;
}

std::string threads_text(const std::string& program, LiveTrace& trace) {
  const Waits waits = trace.waits();
  std::string text = fmt::format("heddle: what the threads of {} do:\n", printable(program));
  for (ThreadId id = 0; id < waits.threads().size(); ++id)
    if (!waits.threads()[id].is_over) text += thread_text(id, waits, trace.names());
  if (trace.is_quiet())
    text +=
        "  which locks they have and wait for is not followed any more, since only races are looked for\n";
  if (trace.is_calm())
    text +=
        "  locks that nobody waits for are not told, since for long no block took one after it gave one "
        "back\n";
  return text;
}

std::string standstill_text(LiveTrace& trace) {
  const Waits waits = trace.waits();
  std::vector<std::string> texts;
  for (ThreadId id = 0; id < waits.threads().size(); ++id) {
    const Waits::Thread& thread = waits.threads()[id];
    if (thread.is_over) continue;
    if (thread.wait.what == Wait::For::kNothing) return {};
    texts.push_back(wait_text(id, waits, trace.names()));
  }
  if (texts.empty()) return {};
  return fmt::format("all its threads waited when it was ended: {}", fmt::join(texts, "; "));
}

std::string findings_text(std::span<const Findings> found) {
  std::string lines;
  std::size_t count = 0;
  for (const Findings& of_checker : found)
    for (const Finding& finding : of_checker.list()) {
      ++count;
      lines += fmt::format("  {} {}: {}\n", finding.rule->id, to_string(finding.strength), finding.message);
    }
  return fmt::format("heddle: {} so far{}\n{}", counted(count, "finding"), count == 0 ? "" : ":", lines);
}

}  // namespace heddle
