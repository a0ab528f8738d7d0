// Threads of C11; the first argument names the case.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static volatile int64_t word;
static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;

static void take(void) { mtx_lock(&mutex); }
static void give(void) { mtx_unlock(&mutex); }

static int write_word(void* unused) {
  (void)unused;
  word = word + 1;
  return 7;
}
static int write_locked(void* unused) {
  (void)unused;
  take();
  word = word + 1;
  give();
  return 7;
}
static int wait_and_write(void* unused) {
  (void)unused;
  take();
  while (word == 0) cnd_wait(&condition, &mutex);
  word = word + 1;
  give();
  thrd_exit(7);
}
static int wait_in_vain(void* unused) {
  (void)unused;
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  take();
  const int result = cnd_timedwait(&condition, &mutex, &now);
  word = word + 1;
  give();
  return result == thrd_timedout ? 7 : 0;
}
static int try_again(void* unused) {
  (void)unused;
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  now.tv_sec += 100;
  while (mtx_trylock(&mutex) == thrd_busy) thrd_yield();
  word = word + 1;
  give();
  if (mtx_timedlock(&mutex, &now) != thrd_success) return 0;
  word = word + 1;
  give();
  return 7;
}
static void initialize(void) { word = 1; }
static int use_initialized(void* unused) {
  (void)unused;
  call_once(&flag, initialize);
  return word == 1 ? 7 : 0;
}
static void write_at_end(void* unused) {
  (void)unused;
  word = word + 1;
}
static int end_with_destructor(void* unused) {
  (void)unused;
  tss_set(key, &key);
  return 7;
}

static int run_two(thrd_start_t first, thrd_start_t second) {
  thrd_t a, b;
  int value_a = 0, value_b = 0;
  if (thrd_create(&a, first, NULL) != thrd_success || thrd_create(&b, second, NULL) != thrd_success) return 1;
  if (thrd_join(a, &value_a) != thrd_success || thrd_join(b, &value_b) != thrd_success) return 1;
  word = word + 1;  // after both
  return value_a == 7 && value_b == 7 ? 0 : 1;
}
static int post(void* unused) {
  write_locked(unused);
  cnd_broadcast(&condition);
  return 7;
}

int main(int count, char** arguments) {
  const char* const name = count > 1 ? arguments[1] : "";
  if (mtx_init(&mutex, mtx_timed | mtx_recursive) != thrd_success) return 1;
  if (cnd_init(&condition) != thrd_success || tss_create(&key, write_at_end) != thrd_success) return 1;
  int result = 2;
  if (strcmp(name, "unlocked") == 0) result = run_two(write_word, write_word);
  if (strcmp(name, "one_unlocked") == 0) result = run_two(write_word, write_locked);
  if (strcmp(name, "locked") == 0) result = run_two(write_locked, write_locked);
  if (strcmp(name, "condition") == 0) result = run_two(wait_and_write, post);
  if (strcmp(name, "condition_in_vain") == 0) result = run_two(wait_in_vain, write_locked);
  if (strcmp(name, "tries") == 0) result = run_two(try_again, write_locked);
  if (strcmp(name, "once") == 0) result = run_two(use_initialized, use_initialized);
  if (strcmp(name, "destructors") == 0) result = run_two(end_with_destructor, end_with_destructor);
  mtx_destroy(&mutex);
  cnd_destroy(&condition);
  return result;
}
