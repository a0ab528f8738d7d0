// Marks in the wrong place. Each case is one macro.
#include <heddle/heddle.h>

#include <memory>
#include <mutex>

int shared = 0;

void body(int i) {
  for (int round = 0; round < 3; ++round) {
#ifdef BREAK
    if (HEDDLE_MAYBE) {
      if (i == round) break;  // here: break
      ++shared;
    }
#endif
#ifdef RETURN
    if (HEDDLE_MAYBE) {
      return;  // here: return
    }
#endif
#ifdef CONTINUE
    if (HEDDLE_MAYBE) {
      if (i == 1) continue;  // here: continue
      ++shared;
    }
#endif
#ifdef ELSE
    if (HEDDLE_MAYBE) {
      ++shared;
    } else {  // here: else
      --shared;
    }
#endif
#ifdef GOOD
    if (HEDDLE_MAYBE) {
      const std::unique_ptr<int> object = std::make_unique<int>(i);
      for (int j = 0; j < 3; ++j) {
        if (j == *object) continue;
        if (HEDDLE_MAYBE && j == 2) break;
        __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
      }
    }
    if (HEDDLE_MAYBE && i == round) break;
    if (HEDDLE_MAYBE && i == round + 1) {
      __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
    } else {
      continue;
    }
#endif
  }
#ifdef THROW
  if (HEDDLE_MAYBE) {
    if (i == 1) throw 1;
  }
#endif
}

#ifdef DEAD_LOCAL
[[gnu::noinline]] const int* counted() {
  int counts[4] = {};
  heddle::parallel_for(0, 4, [&](int i) { counts[i] = i; });
  const int* volatile first = counts;
  return first;
}
#endif

int main() {
#ifdef OUTSIDE
  if (HEDDLE_MAYBE) {  // here: outside
    ++shared;
  }
#endif
#ifdef TEMPORARY
  heddle::focus(shared + 1);  // here: temporary
#endif
  try {
    heddle::parallel_for(0, 3, body);
  } catch (int) {
  }
#ifdef DEAD
  auto* const result = new int[4];
  heddle::parallel_for(0, 4, [&](int i) { result[i] = i; });
  delete[] result;
  heddle::focus(*result);  // here: dead
#endif
#ifdef DEAD_LOCAL
  heddle::focus(*counted());  // here: dead
#endif
  heddle::focus(shared);
}
