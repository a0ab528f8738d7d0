// A library that is built with --heddle-dataflow.
#include "followed_library.h"

long next_of(long* counter) { return ++*counter; }
long seen_of(const long* counter) { return *counter; }
