// Memory of the program's that the C library keeps a pointer to: what is done by it later is done to that
// memory.
#pragma once

#include <cstdio>

namespace heddle::runtime {

// While a function uses a stream that has got its buffer from the program: anything may happen to the buffer,
// at any time until the function returns. A stream is a lock of its own, so that is no race.
class StreamUse {
 public:
  StreamUse(FILE* stream, const void* pc);
  ~StreamUse();
  StreamUse(const StreamUse&) = delete;
  StreamUse& operator=(const StreamUse&) = delete;

 private:
  FILE* stream_;
  const void* pc_;
};

}  // namespace heddle::runtime
