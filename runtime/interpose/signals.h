// Handlers of signals that come while their thread is in the runtime (runtime/inside.h).
#pragma once

namespace heddle::runtime {

// The calling thread has left the runtime, and a handler waits for that.
void run_signal_that_waits();

// Whether the program has ever had a handler: then a thread that waits may act all the same.
bool handles_signals();

// It goes on somewhere else, out of handlers and whatever they have interrupted.
void leave_handlers();

}  // namespace heddle::runtime
