/* Says which parts of a program should be atomic or deterministic. In a normal build all of this is nothing;
   heddle-clang++ (or heddle-clang) defines __HEDDLE__. Scopes also count in objects that other compilers made
   with -fsanitize=thread, if they are linked by heddle-clang++.

     void transfer(Account& from, Account& to, int amount) {
       HEDDLE_ATOMIC("transfer");        // from here to the end of the scope
       ...
     }

     HEDDLE_ATOMIC_FUNCTION void transfer(Account& from, Account& to, int amount);   // the whole function

     HEDDLE_BEGIN_ATOMIC("transfer");    // C has no destructors: do not return or jump out in between
     ...
     HEDDLE_END;

   Atomic: whatever other threads do in between, the result is one that running the block alone could give.
   Deterministic: however its parallel parts interleave, the result is the same. The name must be a string
   literal; reports use it.

   In C++20 there are also parallel loops that carry a specification of their own: heddle/parallel.h. */
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#ifdef __clang__
#define HEDDLE_ATOMIC_FUNCTION __attribute__((annotate("heddle::atomic")))
#define HEDDLE_DETERMINISTIC_FUNCTION __attribute__((annotate("heddle::deterministic")))
#else
#define HEDDLE_ATOMIC_FUNCTION
#define HEDDLE_DETERMINISTIC_FUNCTION
#endif

#if defined(__SANITIZE_THREAD__)
#define HEDDLE_THREAD_SANITIZED_
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_THREAD_SANITIZED_
#endif
#endif

#if defined(__HEDDLE__) || defined(HEDDLE_THREAD_SANITIZED_)

/* An object for ThreadSanitizer's runtime may be linked with that one. */
#ifdef __HEDDLE__
#define HEDDLE_IF_THERE_(function)
#define HEDDLE_MAY_BE_MISSING_
#else
#define HEDDLE_IF_THERE_(function) if (function)
#define HEDDLE_MAY_BE_MISSING_ __attribute__((weak))
#endif

/* As the runtime knows it (runtime/blocks.h). */
struct heddle_scope_block {
  const char* name;
  unsigned kind;
  unsigned origin;
};

#ifdef __cplusplus
extern "C" {
#endif
HEDDLE_MAY_BE_MISSING_ void heddle_begin_block(const struct heddle_scope_block* block, const void* object);
HEDDLE_MAY_BE_MISSING_ void heddle_end_block(const struct heddle_scope_block* block);
#ifdef __cplusplus
}
#endif

/* Kinds: 0 atomic, 1 deterministic. Origin 2: a scope says so. */
#define HEDDLE_BLOCK_(variable, name, kind)       \
  static const struct heddle_scope_block variable \
      __attribute__((section("heddle_blocks"))) = {"" name, kind, 2}

#define HEDDLE_BEGIN_(name, kind)        \
  {                                      \
    HEDDLE_BLOCK_(heddle_b, name, kind); \
    HEDDLE_IF_THERE_(heddle_begin_block) heddle_begin_block(&heddle_b, 0)
#define HEDDLE_BEGIN_ATOMIC(name) HEDDLE_BEGIN_(name, 0)
#define HEDDLE_BEGIN_DETERMINISTIC(name) HEDDLE_BEGIN_(name, 1)
#define HEDDLE_END                                                \
  HEDDLE_IF_THERE_(heddle_end_block) heddle_end_block(&heddle_b); \
  }

#ifdef __cplusplus
namespace heddle {
namespace detail {

class BlockScope {
 public:
  explicit BlockScope(const heddle_scope_block& block) : block_(block) {
    HEDDLE_IF_THERE_(heddle_begin_block) heddle_begin_block(&block_, nullptr);
  }
  ~BlockScope() { HEDDLE_IF_THERE_(heddle_end_block) heddle_end_block(&block_); }
  BlockScope(const BlockScope&) = delete;
  BlockScope& operator=(const BlockScope&) = delete;

 private:
  const heddle_scope_block& block_;
};

}  // namespace detail
}  // namespace heddle

/* The constant lies in a function of its own: it has the same symbol in every file that includes an inline
   function, whatever __COUNTER__ says there. */
#define HEDDLE_SCOPE_NUMBERED_(name, kind, number)                                             \
  const ::heddle::detail::BlockScope heddle_scope_##number([]() -> const heddle_scope_block& { \
    HEDDLE_BLOCK_(block, name, kind);                                                          \
    return block;                                                                              \
  }())
#define HEDDLE_SCOPE_(name, kind, number) HEDDLE_SCOPE_NUMBERED_(name, kind, number)
#define HEDDLE_ATOMIC(name) HEDDLE_SCOPE_(name, 0, __COUNTER__)
#define HEDDLE_DETERMINISTIC(name) HEDDLE_SCOPE_(name, 1, __COUNTER__)
#endif

#else

#define HEDDLE_BEGIN_ATOMIC(name) \
  {                               \
    (void)0
#define HEDDLE_BEGIN_DETERMINISTIC(name) \
  {                                      \
    (void)0
#define HEDDLE_END }
#ifdef __cplusplus
#define HEDDLE_ATOMIC(name) static_cast<void>(0)
#define HEDDLE_DETERMINISTIC(name) static_cast<void>(0)
#endif

#endif

#if defined(__cplusplus) && __cplusplus >= 202002L
#include "parallel.h"
#endif

#endif
