#include "runtime/own_variables.h"

#include <link.h>

#include "runtime/flow_thread.h"
#include "runtime/inside.h"
#include "runtime/memory.h"
#include "runtime/tell.h"
#include "runtime/thread.h"

namespace heddle::runtime {

uint64_t own_bytes = 0;

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 16;
constexpr uint64_t kTableBytes = kMostBytes / 8 * sizeof(uint32_t);

// What is loaded with the program has its variables near the thread pointer.
int add_module(dl_phdr_info* info, std::size_t, void*) {
  if (info->dlpi_tls_data == nullptr) return 0;
  const uint64_t below = below_thread_pointer(info->dlpi_tls_data);
  if (below <= kMostBytes && below > own_bytes) own_bytes = below;
  return 0;
}

// The iteration that wrote each word of them last, by its mark's number.
uint32_t& written_by(const void* address) {
  if (flow_thread.own_written == nullptr) {
    flow_thread.own_written = static_cast<uint32_t*>(allocate(kTableBytes));
    __builtin_memset(flow_thread.own_written, 0, kTableBytes);
  }
  return flow_thread.own_written[(below_thread_pointer(address) - 1) / 8];
}

// 0: it is in none.
uint32_t present_iteration() {
  const GrowingArray<OpenMark>& open = flow_thread.marks.open;
  for (uint32_t i = open.size(); i > 0; --i)
    if (open[i - 1].is_task) return open[i - 1].number;
  return 0;
}

void tell_own(ChannelOperation operation, const void* address, const char* name, const void* pc) {
  if (Thread* const thread = telling_thread(); thread != nullptr)
    tell_unordered(
        *thread, {.operation = operation,
                  .address = reinterpret_cast<const void*>(below_thread_pointer(address) - 1 & ~uint64_t{7}),
                  .pc = pc,
                  .extra = present_iteration(),
                  .name = reinterpret_cast<uint64_t>(name)});
}

}  // namespace

void find_own_variables() {
  if (own_bytes == 0) ::dl_iterate_phdr(add_module, nullptr);
}

void own_variable_is_read(const void* address, const char* name, const void* pc) {
  const uint32_t iteration = present_iteration();
  const Inside inside;
  if (iteration != 0 && written_by(address) != iteration) tell_own(kToldOwnRead, address, name, pc);
}

void own_variable_is_written(const void* address) {
  const uint32_t iteration = present_iteration();
  const Inside inside;
  if (iteration == 0 || written_by(address) == iteration) return;
  written_by(address) = iteration;
  tell_own(kToldOwnWrite, address, nullptr, nullptr);
}

void give_back_own_variables() {
  if (flow_thread.own_written != nullptr) deallocate(flow_thread.own_written, kTableBytes);
  flow_thread.own_written = nullptr;
}

}  // namespace heddle::runtime
