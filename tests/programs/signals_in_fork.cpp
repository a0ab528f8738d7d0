// A handler of a signal comes while its thread copies the process, again and again, and goes over memory.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
alignas(4096) static long of_handler[20][512];
static void handler(int) {
  static int n = 0;
  n = (n + 1) % 20;
  for (int i = 0; i < 512; ++i) of_handler[n][i] += i;
}
int main() {
  std::atomic<bool> done{false};
  sigset_t s;
  sigemptyset(&s);
  sigaddset(&s, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &s, nullptr);
  std::thread other([&] {
    long x = 0;
    std::atomic<long> a{0};
    while (!done) {
      a.store(++x);
      usleep(10);
    }
  });
  pthread_sigmask(SIG_UNBLOCK, &s, nullptr);
  struct sigaction sa = {};
  sa.sa_handler = handler;
  sa.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &sa, nullptr);
  itimerval t = {{0, 150}, {0, 150}};
  setitimer(ITIMER_REAL, &t, nullptr);
  for (int i = 0; i < 300; ++i) {
    pid_t c = fork();
    if (c == 0) _exit(0);
    int st;
    waitpid(c, &st, 0);
  }
  done = true;
  other.join();
  puts("done");
}
