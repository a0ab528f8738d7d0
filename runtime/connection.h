// The monitor: finding or starting one, and what is told to it (runtime/channel.h).
#pragma once

#include "runtime/channel.h"

namespace heddle::runtime {

extern Channel* channel;  // null: nobody listens

// Finds the monitor that HEDDLE_MONITOR names, or starts one. Once per process; before its second thread.
void connect_to_monitor();

// It was not tried yet, and the program has had one thread so far.
bool is_before_monitor();

// HEDDLE_OFF=1 in the environment: the program runs as if it had one thread, unchecked.
bool is_switched_off();

// The descriptor that leads to the monitor of this process; -1: there is none.
int own_descriptor();
// The program wants its number: false, there is no other for it.
bool move_own_descriptor();

// Whether the monitor is still there; if not, nothing is told any more.
bool monitor_is_there();

// The program is ending: waits until the monitor has read everything. What the exit code should be, given the
// program's own.
int finish_with_monitor(int exit_code);

// In the child after a fork: the parent's monitor is not ours.
void leave_monitor_to_parent();

}  // namespace heddle::runtime
