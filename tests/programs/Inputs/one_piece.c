// A part that is passed by value is read in one piece, or in two, and here without the lock.
#include <pthread.h>

struct small {
  int first;
  int x1;
};
struct large {
  long first;
  long x2;
};
struct guarded {
  pthread_mutex_t mutex;
  struct small small;
  struct large large;
};

int sum_of_small(struct small small) { return small.first + small.x1; }
long sum_of_large(struct large large) { return large.first + large.x2; }

void change(struct guarded* guarded) {
  pthread_mutex_lock(&guarded->mutex);
  guarded->small.x1 = 1;
  guarded->large.x2 = 1;
  pthread_mutex_unlock(&guarded->mutex);
}

long look(struct guarded* guarded) { return sum_of_small(guarded->small) + sum_of_large(guarded->large); }
