#include <heddle/heddle.h>

static int value;

HEDDLE_ATOMIC_FUNCTION int change(void) {
  HEDDLE_BEGIN_DETERMINISTIC("in C");
  ++value;
  HEDDLE_END;
  return value;
}

int main(void) { return change() - 1; }
