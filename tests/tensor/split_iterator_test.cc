// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/split_iterator.h"

#include "bayloom/tensor/interpreter.h"
#include "tests/tensor/primitive_test.h"

namespace bayloom::tensor {
namespace {

using testing::PrimitiveTest;

class SplitIteratorTest : public PrimitiveTest {
 protected:
  /// y[i, j] = x[i, j / 3, j % 3] for j below 12.
  void SetUp() override {
    WorkloadBuilder b("joined");
    const Tensor x = b.Input("x", {5, 4, 3});
    Start(b.Build({b.Compute("y", {5, 12}, [&](const auto& s) {
      return x(s[0], FloorDiv(s[1], 3), FloorMod(s[1], 3));
    })}));
  }

  bool Divides() const {
    bool divides = false;
    Visit(At("y").value, [&](const Expr& e) {
      divides |= e->op == ExprOp::kFloorDiv || e->op == ExprOp::kFloorMod;
    });
    return divides;
  }

  void ExpectSameResult() {
    ASSERT_TRUE(Validate(program_));
    std::vector<HostTensor> expected = testing::RandomArguments(workload_, 1), actual = expected;
    Interpret(Lower(workload_), expected);
    Interpret(program_, actual);
    EXPECT_EQ(actual.back().data, expected.back().data);
  }
};

TEST_F(SplitIteratorTest, QuotientsAndRemaindersBecomeIterators) {
  ASSERT_TRUE(SplitIterator(program_, BlockNamed("y"), 1, 3));
  EXPECT_FALSE(Divides());
  EXPECT_EQ(ExtentsOf("y"), (std::vector<int64_t>{5, 4, 3}));
  ExpectSameResult();
}

TEST_F(SplitIteratorTest, LoopsThatAreSplitThereStayAsTheyAre) {
  MustSplit(LoopOf("y", 1), {2, 6});
  ASSERT_FALSE(SplitIterator(program_, BlockNamed("y"), 1, 3));
  MustSplit(LoopOf("y", 2), {2, 3});
  ASSERT_TRUE(SplitIterator(program_, BlockNamed("y"), 1, 3));
  EXPECT_FALSE(Divides());
  EXPECT_EQ(ExtentsOf("y"), (std::vector<int64_t>{5, 2, 2, 3}));
  ExpectSameResult();
}

TEST_F(SplitIteratorTest, AnotherFactorLeavesDivisions) {
  ASSERT_TRUE(SplitIterator(program_, BlockNamed("y"), 1, 2));
  EXPECT_TRUE(Divides());
  ExpectSameResult();
}

TEST_F(SplitIteratorTest, RefusesWhatDoesNotDivide) {
  const Status status = SplitIterator(program_, BlockNamed("y"), 1, 5);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "cannot split iterator j of y by 5: that does not divide its extent");
}

}  // namespace
}  // namespace bayloom::tensor
