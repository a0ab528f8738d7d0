// Classes and members as summaries name them: by the source's qualified names, without template arguments,
// so that all files agree. What the classes are made of comes from debug information.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace heddle {

// What the members of a class are to threads.
enum class MemberKind { kData, kLock, kAtomic };

struct ClassMember {
  std::string name;  // "Account::balance_"
  uint64_t offset = 0;
  uint64_t size = 0;
  MemberKind kind = MemberKind::kData;
  std::string type;  // the program's class that it is of, or points to; empty: none
  std::string site;
};

class ClassNames {
 public:
  explicit ClassNames(const llvm::Module& module);

  // "Account" of %class.Account.7; empty for what has no name.
  static std::string name_of(const llvm::StructType& type);
  static bool is_library(const llvm::StructType& type);
  static bool is_library_type(const llvm::Type& type);

  // The member that begins in this element; empty: debug information does not know the class.
  std::string member_of(const llvm::StructType& type, unsigned element, const llvm::DataLayout& layout) const;

  // Whether the first element is the object of a base class.
  bool begins_with_base(const llvm::StructType& type) const;
  // Whether it begins with bits of a number: an access to them is not told from one to the object.
  bool begins_with_bits(const llvm::StructType& type) const;
  // In bits; 0: not known.
  uint64_t size_of(llvm::StringRef name) const;
  // The class and all that it is derived from.
  std::vector<std::string> with_bases(const std::string& name) const;

  // The program's class that the member of this name points to; empty: none, "?": not known.
  std::string class_behind(llvm::StringRef member) const;

  // All classes of the program that debug information describes, by name. Template classes of one name have
  // their members together.
  struct Class {
    std::string name;
    uint64_t size = 0;
    std::vector<ClassMember> members;
  };
  std::vector<Class> classes() const;

  // The program's class that this type is, or points or refers to; "?" behind void*.
  static std::string class_of(const llvm::DIType* type);
  static std::string class_of(const llvm::GlobalVariable& variable);
  static MemberKind kind_of(const llvm::DIType* type);

 private:
  llvm::StringMap<std::vector<const llvm::DICompositeType*>> by_name_;
};

}  // namespace heddle
