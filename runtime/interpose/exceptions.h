#pragma once

namespace heddle::runtime {

void unlock_exceptions();  // in the child after a fork

}  // namespace heddle::runtime
