#include <fcntl.h>
#include <unistd.h>

#include "cli/heddle.h"

namespace {

// Whoever closed them for us gets no output, and none of our files takes their place. Programs that we start
// find them closed.
void fill_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) == -1) ::open("/dev/null", O_RDWR | O_CLOEXEC);  // the lowest that is free
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_files();
  return heddle::run_heddle(argc, argv);
}
