// A program that does not go on can be asked what its threads do: SIGUSR2, unless it has a handler of its
// own.
#pragma once

#include <signal.h>

namespace heddle::runtime {

// There is a monitor, which answers.
void listen_for_questions();

// How the system is to treat the signal then.
struct sigaction question_action();

}  // namespace heddle::runtime
