// What one thread sends another may receive, through a pipe, a socket, an event, a file or a signal: whoever
// receives anything knows what all have done who have sent anything before. Which of them it was is not
// looked at.
#pragma once

#include "runtime/libc_call.h"

namespace heddle::runtime {

void sending(const LibcCall& call);    // before it is sent
void receiving(const LibcCall& call);  // when it has come

}  // namespace heddle::runtime
