// Functions of the C and the C++ library that move or link memory of the program's, for code that tells its
// data flow (HEDDLE_FOLLOWED_FUNCTIONS of runtime/libc_functions.h). What they read and write is told so that
// whatever the program learns or changes by them conflicts as it should; the rest is theirs.
#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>

#include "runtime/flow_thread.h"
#include "runtime/libc_call.h"
#include "runtime/libc_functions.h"

namespace heddle::runtime {

// std::_Rb_tree_node_base and std::__detail::_List_node_base: what the library and the headers share.
struct TreeNode {
  uint64_t colour;
  TreeNode* parent;  // of the header: the root
  TreeNode* left;    // of the header: the first
  TreeNode* right;   // of the header: the last
};
struct ListNode {
  ListNode* next;
  ListNode* previous;
};

namespace {

// The library's own function of that name.
template <class Function>
Function* library_function(const char* name) {
  void* const found = ::dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) fail("a function of the C++ library is gone");
  return reinterpret_cast<Function*>(found);
}

// Of the same type as ours.
#define HEDDLE_LIBRARY(name)                                                          \
  ([] {                                                                               \
    static auto* const found = library_function<decltype(heddle_libc_##name)>(#name); \
    return found;                                                                     \
  }())

// What memory holds while it moves: each word depends on what it was. Those past the first thousand have one
// label together.
class Moved {
 public:
  Moved(const LibcCall& call, const void* from, std::size_t size) : call_(call), size_(size) {
    for_each_word(from, [&](const void* word, std::size_t bytes, uint32_t& label) {
      flow_thread.library_label = label;
      call_.reads(word, bytes);
      label = flow_thread.library_label;
    });
  }
  void arrives_at(const void* to) {
    for_each_word(to, [&](const void* word, std::size_t bytes, uint32_t label) {
      flow_thread.library_label = label;
      call_.writes(word, bytes);
    });
    flow_thread.library_label = 0;  // where it lies is no value of the program's
  }

 private:
  static constexpr std::size_t kWords = 1024;

  template <class Visit>
  void for_each_word(const void* memory, Visit visit) {
    const char* const begin = static_cast<const char*>(memory);
    for (std::size_t at = 0; at < size_; at += 8)
      visit(begin + at, size_ - at < 8 ? size_ - at : 8, labels_[at / 8 < kWords ? at / 8 : kWords - 1]);
  }

  LibcCall call_;
  std::size_t size_;
  uint32_t labels_[kWords] = {};
};

template <class Reallocate>
void* move_with(const LibcCall& call, void* memory, std::size_t size, Reallocate reallocate) {
  if (!follows_data || memory == nullptr || size == 0) return reallocate();
  const std::size_t before = ::malloc_usable_size(memory);
  Moved moved(call, memory, before < size ? before : size);
  void* const result = reallocate();
  if (result != nullptr) moved.arrives_at(result);
  return result;
}

// What comes next to a node is decided by a link of the node or of the one that comes.
TreeNode* step(const LibcCall& call, TreeNode* node, TreeNode* (*library)(TreeNode*)) {
  call.reads_object(node);
  TreeNode* const result = library(node);
  call.reads_object(result);
  return result;
}

void changes_header(const LibcCall& call, const TreeNode& before, TreeNode* header) {
  if (before.parent != header->parent) call.writes_object(&header->parent);
  if (before.left != header->left) call.writes_object(&header->left);
  if (before.right != header->right) call.writes_object(&header->right);
}

void links(const LibcCall& call, ListNode* node) {
  call.writes_object(&node->previous->next);
  call.writes_object(&node->next->previous);
}

}  // namespace

HEDDLE_LIBC(void*, realloc, void* memory, std::size_t size) {
  return move_with(LibcCall(HEDDLE_HERE), memory, size, [&] { return ::realloc(memory, size); });
}
HEDDLE_LIBC(void*, reallocarray, void* memory, std::size_t count, std::size_t size) {
  return move_with(LibcCall(HEDDLE_HERE), memory, count * size,
                   [&] { return ::reallocarray(memory, count, size); });
}

HEDDLE_LIBC(std::size_t, _ZSt11_Hash_bytesPKvmm, const void* memory, std::size_t size, std::size_t seed) {
  LibcCall(HEDDLE_HERE).reads(memory, size);
  return HEDDLE_LIBRARY(_ZSt11_Hash_bytesPKvmm)(memory, size, seed);
}

#define HEDDLE_TREE_STEP(name)                                      \
  HEDDLE_LIBC(TreeNode*, name, TreeNode* node) {                    \
    return step(LibcCall(HEDDLE_HERE), node, HEDDLE_LIBRARY(name)); \
  }
HEDDLE_TREE_STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base)
HEDDLE_TREE_STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base)
HEDDLE_TREE_STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base)
HEDDLE_TREE_STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base)

// Who looked for the node in vain has read the parent's link that was not there; who finds it reads the node.
HEDDLE_LIBC(void, _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_, bool is_left,
            TreeNode* node, TreeNode* parent, TreeNode* header) {
  const LibcCall call(HEDDLE_HERE);
  const TreeNode before = *header;
  call.reads_object(header);
  call.reads_object(parent);
  HEDDLE_LIBRARY(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_)(is_left, node, parent,
                                                                                    header);
  call.writes_object(node);
  if (parent == header) return changes_header(call, before, header);
  call.writes_object(parent);
  changes_header(call, before, header);
}

// Every way to the place of a node may change that is gone.
HEDDLE_LIBC(TreeNode*, _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_, TreeNode* node,
            TreeNode* header) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(header);
  call.reads_object(node);
  TreeNode* const around[] = {node->parent, node->left, node->right};
  TreeNode* const result =
      HEDDLE_LIBRARY(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_)(node, header);
  for (TreeNode* const other : around)
    if (other != header) call.writes_object(other);
  call.writes_object(header);
  return result;
}

HEDDLE_LIBC(void, _ZNSt8__detail15_List_node_base7_M_hookEPS0_, ListNode* node, ListNode* position) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(&position->previous);
  HEDDLE_LIBRARY(_ZNSt8__detail15_List_node_base7_M_hookEPS0_)(node, position);
  call.writes_object(node);
  links(call, node);
}
HEDDLE_LIBC(void, _ZNSt8__detail15_List_node_base9_M_unhookEv, ListNode* node) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(node);
  HEDDLE_LIBRARY(_ZNSt8__detail15_List_node_base9_M_unhookEv)(node);
  links(call, node);
}
HEDDLE_LIBC(void, _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_, ListNode* position, ListNode* first,
            ListNode* last) {
  const LibcCall call(HEDDLE_HERE);
  ListNode* const ends[] = {position, first, last};
  for (ListNode* const node : ends) call.reads_object(&node->previous);
  ListNode* const before[] = {position->previous, first->previous, last->previous};
  HEDDLE_LIBRARY(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_)(position, first, last);
  for (ListNode* const node : ends) call.writes_object(&node->previous);
  for (ListNode* const node : before) call.writes_object(&node->next);
}
HEDDLE_LIBC(void, _ZNSt8__detail15_List_node_base10_M_reverseEv, ListNode* node) {
  const LibcCall call(HEDDLE_HERE);
  const ListNode* at = node;
  do {
    call.reads_object(at);
    at = at->next;
  } while (at != node);
  HEDDLE_LIBRARY(_ZNSt8__detail15_List_node_base10_M_reverseEv)(node);
  do {
    call.writes_object(at);
    at = at->next;
  } while (at != node);
}
HEDDLE_LIBC(void, _ZNSt8__detail15_List_node_base4swapERS0_S1_, ListNode* one, ListNode* other) {
  const LibcCall call(HEDDLE_HERE);
  call.reads_object(one);
  call.reads_object(other);
  HEDDLE_LIBRARY(_ZNSt8__detail15_List_node_base4swapERS0_S1_)(one, other);
  ListNode* const lists[] = {one, other};
  for (ListNode* const list : lists) {
    call.writes_object(list);
    links(call, list);
  }
}

[[gnu::used]] static const void* const kAllFollowed[] = {HEDDLE_FOLLOWED_FUNCTIONS(HEDDLE_LIBC_ADDRESS)};

}  // namespace heddle::runtime
