// Called from the slow paths of accesses, too, and compiled like them.
#include "runtime/inside.h"

#include "runtime/interpose/signals.h"

namespace heddle::runtime {

HEDDLE_KEEPS_REGISTERS void look_for_signal() {
  if (heddle_thread_state.inside != kSignalWaits) return;  // the thread is still inside, further out
  auto run = [] { run_signal_that_waits(); };
  keep_registers(run);
}

}  // namespace heddle::runtime
