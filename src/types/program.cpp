#include "types/program.h"

namespace heddle::types {

const Class* Program::class_of(const std::string& member) const {
  const std::size_t at = member.rfind("::");
  if (at == std::string::npos) return nullptr;
  const auto found = classes.find(member.substr(0, at));
  return found == classes.end() ? nullptr : &found->second;
}

bool Program::is_object(const Member& member) const {
  const auto inner = classes.find(member.type);
  return inner != classes.end() && !inner->second.members.empty() && inner->second.size == member.size;
}

const Member* Program::member(const std::string& name) const {
  const Class* const owner = class_of(name);
  if (owner == nullptr) return nullptr;
  for (const Member& member : owner->members)
    if (member.name == name) return &member;
  return nullptr;
}

bool orders_threads(OperationKind kind) {
  switch (kind) {
    case OperationKind::kAcquire:
    case OperationKind::kAcquireShared:
    case OperationKind::kRelease:
    case OperationKind::kDrop:
    case OperationKind::kWait:
    case OperationKind::kAtomic:
    case OperationKind::kFork:
    case OperationKind::kJoin:
    case OperationKind::kOrder: return true;
    case OperationKind::kRead:
    case OperationKind::kWrite:
    case OperationKind::kCall:
    case OperationKind::kAddressTaken:
    case OperationKind::kLeak:
    case OperationKind::kDefine:
    case OperationKind::kElement:
    case OperationKind::kPass:
    case OperationKind::kWholeRead:
    case OperationKind::kWholeWrite: return false;
  }
  return false;
}

}  // namespace heddle::types
