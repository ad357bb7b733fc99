#include "passes/instrument/interface_snapshot.h"

#include <string>

#include <gtest/gtest.h>

#include "ir/core/builder.h"

namespace nir {
namespace {

constexpr unsigned jobs = 4;
constexpr unsigned num_functions = 200;

// Functions @0, @1, … of one input and one output each.
struct Many {
  Many() {
    for (unsigned i = 0; i < num_functions; ++i) {
      Builder b(*module.add_function(Name::number(i)));
      const Type *type = b.type(DType::Float32, {4});
      b.tensor("x", type, Space::Dram, Role::Input);
      b.tensor("y", type, Space::Dram, Role::Output);
    }
  }
  void rename_output(unsigned function) {
    module.functions()[function]->last_tensor()->set_name(module.intern("z"));
  }
  Module module;
};

TEST(InterfaceSnapshot, FindsNothingWhereNothingChanged) {
  Many many;
  const InterfaceSnapshot snapshot(many.module);
  for (const unsigned threads : {1u, jobs})
    EXPECT_EQ(snapshot.find_change(many.module, threads), std::nullopt);
}

// The first in order of functions, however many threads look.
TEST(InterfaceSnapshot, FindsTheFirstChange) {
  Many many;
  const InterfaceSnapshot snapshot(many.module);
  for (const unsigned function : {190u, 120u, 33u, 0u}) {
    many.rename_output(function);
    for (const unsigned threads : {1u, jobs})
      EXPECT_EQ(snapshot.find_change(many.module, threads),
                "the interface of function '@" + std::to_string(function) +
                    "' changed: '$z' stands where output '$y' was");
  }
}

TEST(InterfaceSnapshot, FindsTensorsThatAreNew) {
  Many many;
  const InterfaceSnapshot snapshot(many.module);
  Builder b(*many.module.functions()[150]);
  b.tensor("more", b.type(DType::Float32, {4}), Space::Dram, Role::Input);
  for (const unsigned threads : {1u, jobs})
    EXPECT_EQ(snapshot.find_change(many.module, threads),
              "the interface of function '@150' changed: input '$more' is new");
}

} // namespace
} // namespace nir
