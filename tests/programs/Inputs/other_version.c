// What a program says whose runtime is of another version, to the heddle that runs it: a Hello that is like
// ours (runtime/channel.h) but for its last number.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct hello {
  char magic[8];
  uint64_t size;
  int32_t pid;
  uint32_t interface;
};

int main(void) {
  const char* const name = getenv("HEDDLE_MONITOR");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + 1, name, sizeof(address.sun_path) - 2);
  const int monitor = socket(AF_UNIX, SOCK_STREAM, 0);
  const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
  if (connect(monitor, (struct sockaddr*)&address, size) != 0) return 1;
  struct hello hello = {{'H', 'E', 'D', 'D', 'L', 'E', '0', '1'}, 4096, getpid(), 0};
  int memory = memfd_create("heddle", 0);
  struct iovec part = {&hello, sizeof(hello)};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &memory, sizeof(int));
  if (sendmsg(monitor, &message, 0) != (ssize_t)sizeof(hello)) return 1;
  char answer[8];
  printf("answer: %zd bytes\n", recv(monitor, answer, sizeof(answer), MSG_WAITALL));
  return 0;
}
