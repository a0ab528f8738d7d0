// What src/types proves of a program holds in all its executions: no race on a proven field, none of an
// access that is said to be exempt, no interrupted execution of a method that is proven atomic. Programs and
// schedules are random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "summary_interpreter.h"
#include "types/check.h"
#include "types/focus.h"
#include "types/inference.h"
#include "types/summary_text.h"

namespace heddle::test {
namespace {

using types::CheckResult;
using types::Owner;
using types::OwnerKind;
using types::Types;

std::size_t how_many() {
  const char* const given = std::getenv("TYPES_PROGRAMS");
  return given == nullptr ? 250 : static_cast<std::size_t>(std::atoll(given));
}

// Owners as the code suggests them, or any.
Types owners_for(const Program& program, uint64_t seed) {
  if (seed % 2 == 0) return types::infer_types(program, {});
  Dice dice(seed);
  Types types;
  for (const char* place : {"A::x", "A::y", "B::x", "B::y", "g:z"}) {
    const std::string own = std::string(place).substr(0, 1) + "::mu";
    const std::vector<Owner> owners = {{OwnerKind::kSelf, own},     {OwnerKind::kSelf, own},
                                       {OwnerKind::kGlobal, "g:m"}, {OwnerKind::kReadonly, ""},
                                       {OwnerKind::kThread, ""},    {OwnerKind::kUnknown, ""},
                                       {OwnerKind::kSelf, "A::mu"}};
    types.owners[place] = {dice.pick(owners), "", 0};
  }
  return types;
}

TEST(Types, ProvenFieldsHaveNoRaceAndAtomicMethodsAreNotInterrupted) {
  std::size_t proven = 0;
  std::size_t atomic = 0;
  std::size_t racy = 0;
  std::size_t exempt = 0;
  std::size_t atomic_only = 0;
  for (uint64_t seed = 1; seed <= how_many(); ++seed) {
    const Program program = random_program(seed);
    const CheckResult result = types::check_types(program, owners_for(program, seed));
    std::set<std::string> atomic_methods;
    for (const auto& [symbol, method] : result.methods)
      if (method.is_atomic() && symbol.starts_with("m") && symbol != "main") atomic_methods.insert(symbol);
    atomic += atomic_methods.size();
    for (const auto& [place, verdict] : result.fields) proven += verdict.is_proven();
    exempt += result.exempt.size();
    atomic_only += result.atomic_only.size();
    for (uint64_t schedule = 1; schedule <= 4; ++schedule) {
      const Execution execution(program, seed * 1000 + schedule, atomic_methods);
      for (const Done* access : execution.racy())
        ASSERT_FALSE(access->kind != OperationKind::kAtomic &&  // of plain accesses alone it is said
                     result.exempt.contains({access->function, "", access->path}))
            << access->path << " is exempt in " << access->function << " and in a race; seed " << seed
            << ", schedule " << schedule << "\n"
            << types::summary_text(program);
      for (const std::string& place : execution.races()) {
        ++racy;
        ASSERT_FALSE(result.atomic_only.contains(place)) << place << "; seed " << seed;
        ASSERT_TRUE(result.fields.contains(place)) << place;
        ASSERT_FALSE(result.fields.at(place).is_proven())
            << place << " is proven and in a race; seed " << seed << ", schedule " << schedule << "\n"
            << types::check_text(result, true) << types::summary_text(program);
      }
      ASSERT_FALSE(execution.has_broken_transaction())
          << "an atomic method is interrupted; seed " << seed << ", schedule " << schedule << "\n"
          << types::check_text(result, true) << types::summary_text(program);
    }
  }
  // The law is not kept by proving nothing.
  EXPECT_GT(proven, how_many() / 2);
  EXPECT_GT(exempt, how_many() / 2);
  EXPECT_GT(atomic_only, how_many() / 20);
  EXPECT_GT(atomic, how_many() / 4);
  EXPECT_GT(racy, how_many() / 5);
}

// A program all of whose fields are proven has no race in a thousand schedules, though its threads share
// objects.
TEST(Types, WhollyProvenProgramsHaveNoRaceInAThousandSchedules) {
  std::size_t programs = 0;
  for (uint64_t seed = 2; programs < 3; seed += 2) {
    ASSERT_LT(seed, 20'000U) << "no such program";
    const Program program = random_program(seed);
    const CheckResult result = types::check_types(program, owners_for(program, seed));
    const bool is_proven = std::all_of(result.fields.begin(), result.fields.end(), [](const auto& field) {
      const bool is_container = field.first == "A::c" || field.first == "g:c";  // which few programs write
      return field.second.is_proven() && (field.second.accesses > 0 || is_container);
    });
    const auto guarded = std::count_if(result.fields.begin(), result.fields.end(),
                                       [](const auto& field) { return field.second.owner.is_lock(); });
    if (!is_proven || guarded < 2) continue;
    ++programs;
    for (uint64_t schedule = 1; schedule <= 1000; ++schedule)
      ASSERT_TRUE(Execution(program, schedule, {}).races().empty())
          << "seed " << seed << ", schedule " << schedule;
  }
}

// Each of them is atomic, one after the other is not.
TEST(Types, TwoAtomicCallsInSequenceAreNotAtomic) {
  Program program;
  program.globals = {{"g:z", ""}, {"g:m", ""}};
  program.global_locks = {"g:m"};
  const auto define = [&](const std::string& name, std::vector<Operation> operations) {
    Function& function = program.functions[name];
    function.symbol = function.name = name;
    function.is_entry = true;
    function.blocks.push_back({std::move(operations), {}});
  };
  const Operation call{OperationKind::kCall, "", "add", {}, ""};
  define("add", {{OperationKind::kAcquire, "g:m", "", {}, ""},
                 {OperationKind::kWrite, "g:z", "", {}, ""},
                 {OperationKind::kRelease, "g:m", "", {}, ""}});
  define("once", {call});
  define("twice", {call, call});
  Types types;
  types.owners["g:z"] = {{OwnerKind::kGlobal, "g:m"}, "", 0};
  const CheckResult result = types::check_types(program, types);
  EXPECT_TRUE(result.methods.at("add").is_atomic());
  EXPECT_TRUE(result.methods.at("once").is_atomic());
  EXPECT_FALSE(result.methods.at("twice").is_atomic());
  EXPECT_EQ(result.methods.at("twice").at_calls, types::Atomicity::kCompound);
}

TEST(Types, SummariesAreReadBackAsTheyWere) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Program program = random_program(seed);
    Program again;
    types::read_summaries(types::summary_text(program), "random", again);
    EXPECT_EQ(again.functions, program.functions);
    EXPECT_EQ(again.classes, program.classes);
  }
}

}  // namespace
}  // namespace heddle::test
