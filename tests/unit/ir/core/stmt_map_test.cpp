#include "ir/core/stmt_map.h"

#include <vector>

#include "tests/unit/support/ir_fixture.h"

namespace nir {
namespace {

class StmtMapTest : public IrTest {};

TEST_F(StmtMapTest, FindsWhatWasPutInAndNothingElse) {
  const Instruction *a = value(DType::Float32, {4});
  const Instruction *c = value(DType::Float32, {4});
  const Instruction *last = value(DType::Float32, {4});
  a->function()->ensure_orders();
  StmtMap<int> map(*a->function());
  EXPECT_EQ(map.find(nullptr), nullptr);
  EXPECT_EQ(map.find(a), nullptr);
  EXPECT_TRUE(map.try_emplace(*last, 30));
  EXPECT_TRUE(map.try_emplace(*a, 10));
  EXPECT_FALSE(map.try_emplace(*a, 11));
  ASSERT_NE(map.find(a), nullptr);
  EXPECT_EQ(*map.find(a), 10);
  EXPECT_EQ(*map.find(last), 30);
  EXPECT_EQ(map.find(c), nullptr);
}

TEST_F(StmtMapTest, IsEmptiedAndFilledAgain) {
  const Instruction *a = value(DType::Float32, {4});
  const Instruction *c = value(DType::Float32, {4});
  a->function()->ensure_orders();
  StmtMap<int> map(*a->function());
  map.try_emplace(*a, 1);
  map.clear();
  EXPECT_EQ(map.find(a), nullptr);
  map.try_emplace(*c, 2);
  EXPECT_EQ(map.find(a), nullptr);
  EXPECT_EQ(*map.find(c), 2);
}

TEST_F(StmtMapTest, AListIsWalkedInItsOrderWhateverItsLength) {
  for (const std::size_t size : {0, 1, 8, 9, 100}) {
    std::vector<Instruction *> list;
    while (list.size() < size)
      list.push_back(value(DType::Float32, {4}));
    std::vector<Instruction *> walked;
    for (Instruction *inst : Prefetched(list))
      walked.push_back(inst);
    EXPECT_EQ(walked, list);
  }
}

TEST_F(StmtMapTest, AListMayHoldNull) {
  const std::vector<Instruction *> list(20, nullptr);
  std::size_t walked = 0;
  for (const Instruction *inst : Prefetched(list))
    walked += inst == nullptr ? 1 : 0;
  EXPECT_EQ(walked, list.size());
}

} // namespace
} // namespace nir
