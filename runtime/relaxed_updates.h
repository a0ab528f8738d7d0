// Relaxed read-modify-writes that take no lock, and are not told.
#pragma once

namespace heddle::runtime {

struct Thread;

// The calm is about to end, and says so already: those that other threads are at are over when this returns.
void wait_for_untold_updates(const Thread& but);

}  // namespace heddle::runtime
