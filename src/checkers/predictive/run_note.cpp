#include "checkers/predictive/run_note.h"

#include <fmt/format.h>

#include "base/text.h"

namespace heddle::predictive {

std::string run_note(const Transactions& run) {
  std::string note;
  const auto add = [&](const std::string& text) {
    if (!note.empty()) note += "; ";
    note += text;
  };
  if (run.unended > 0)
    add(fmt::format(
        "{} not ended when the trace was: what is there counts as the whole block",
        run.unended == 1 ? "one atomic block was" : fmt::format("{} atomic blocks were", run.unended)));
  if (run.held_at_end > 0)
    add(run.held_at_end == 1
            ? std::string("one lock was held when the trace ended: it counts as given back there")
            : fmt::format("{} locks were held when the trace ended: they count as given back there",
                          run.held_at_end));
  if (run.not_counted > 0)
    add(fmt::format(
        "{} by a thread that held {} locks already {} as not taken: what others do may seem possible that is "
        "not",
        counted(run.not_counted, "acquisition"), kMostHeld, run.not_counted == 1 ? "counts" : "count"));
  if (run.deterministic > 0)
    add(fmt::format("the operations of {} count one by one here (determinism checks the blocks)",
                    counted(run.deterministic, "deterministic block")));
  return note;
}

}  // namespace heddle::predictive
