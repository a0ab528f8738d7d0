// Has used up its file descriptors before its first thread begins, and has a race. The first argument says
// whether the limit can still be raised.
#include <fcntl.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <thread>

namespace {
volatile int word;
}

int main(int count, char** arguments) {
  const bool is_fixed = count > 1 && std::strcmp(arguments[1], "fixed") == 0;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 64;
  if (is_fixed) limit.rlim_max = 64;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  while (::open("/dev/null", O_RDONLY) >= 0) {
  }
  std::thread first([] { word = 1; });
  std::thread second([] { word = 2; });
  first.join();
  second.join();
  rlimit after = {};
  ::getrlimit(RLIMIT_NOFILE, &after);
  const bool is_same = after.rlim_cur == limit.rlim_cur && ::open("/dev/null", O_RDONLY) < 0;
  std::fprintf(stderr, "the limit is %s\n", is_same ? "the same" : "another");
  return 0;
}
