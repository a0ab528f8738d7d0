#include "runtime/question.h"

#include "runtime/connection.h"
#include "runtime/interpose/real.h"

namespace heddle::runtime {

namespace {

void pass_on(int signal) {
  if (Channel* const to = channel; to != nullptr) {
    to->questions.fetch_add(1);
    return;
  }
  // A child after a fork, which nobody listens to: as if there were no handler.
  struct sigaction none = {};
  REAL(sigaction)(signal, &none, nullptr);
  ::raise(signal);
}

}  // namespace

struct sigaction question_action() {
  struct sigaction action = {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  return action;
}

void listen_for_questions() {
  struct sigaction present;
  if (REAL(sigaction)(SIGUSR2, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return;
  const struct sigaction action = question_action();
  REAL(sigaction)(SIGUSR2, &action, nullptr);
}

}  // namespace heddle::runtime
