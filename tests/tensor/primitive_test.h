// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bayloom/tensor/primitives.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {

/// A program being scheduled by hand, with names for its parts.
class PrimitiveTest : public ::testing::Test {
 protected:
  void Start(tensor::Workload workload) {
    workload_ = std::move(workload);
    program_ = tensor::Lower(workload_);
  }

  tensor::BlockId BlockNamed(const std::string& name) const {
    const tensor::BlockId block = program_.FindBlock(name);
    EXPECT_GE(block, 0) << name;
    return block;
  }
  const tensor::Block& At(const std::string& name) const {
    return program_.blocks[BlockNamed(name)];
  }
  tensor::BufferId BufferNamed(const std::string& name) const {
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (program_.buffers[i].name == name) return static_cast<tensor::BufferId>(i);
    }
    ADD_FAILURE() << "no buffer " << name;
    return -1;
  }
  std::vector<tensor::LoopId> LoopsOf(const std::string& block) const {
    return program_.LoopsAround(tensor::NodeRef::Block(BlockNamed(block)));
  }
  tensor::LoopId LoopOf(const std::string& block, size_t depth) const {
    return LoopsOf(block).at(depth);
  }
  std::vector<int64_t> ExtentsOf(const std::string& block) const {
    std::vector<int64_t> extents;
    for (tensor::LoopId loop : LoopsOf(block)) extents.push_back(program_.ExtentOf(loop));
    return extents;
  }

  std::vector<tensor::LoopId> MustSplit(tensor::LoopId loop, const std::vector<int64_t>& factors) {
    Result<std::vector<tensor::LoopId>> loops = tensor::Split(program_, loop, factors);
    EXPECT_TRUE(loops) << (loops ? "" : loops.error().message);
    return loops ? *loops : std::vector<tensor::LoopId>(factors.size(), -1);
  }
  template <typename T>
  T Must(const Result<T>& result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : T{};
  }

  /// Must refuse for a reason that contains `why`, and leave the program alone.
  template <typename Primitive>
  void ExpectRefused(const std::string& why, const Primitive& primitive) {
    const uint64_t before = program_.StructuralHash();
    const auto result = primitive(program_);
    ASSERT_FALSE(result) << "expected: " << why;
    EXPECT_THAT(result.error().message, ::testing::HasSubstr(why));
    EXPECT_EQ(program_.StructuralHash(), before);
  }

  /// The program is valid and computes what the workload says.
  void ExpectSameResult() {
    const Status valid = tensor::Validate(program_);
    ASSERT_TRUE(valid) << valid.error().message << "\n" << tensor::Print(program_);
    std::vector<tensor::HostTensor> expected = RandomArguments(workload_, 11);
    std::vector<tensor::HostTensor> actual = expected;
    tensor::Interpret(tensor::Lower(workload_), expected);
    try {
      tensor::InterpretStrictly(program_, actual);
    } catch (const std::logic_error& e) {
      FAIL() << e.what() << "\n" << tensor::Print(program_);
    }
    for (size_t a = 0; a < actual.size(); ++a) {
      ASSERT_LE(RelativeDifference(actual[a], expected[a]), 1e-5) << tensor::Print(program_);
    }
  }

  tensor::Workload workload_;
  tensor::Program program_;
};

using ::testing::ElementsAre;

/// y = 2x, z = y + 1, both of the same shape.
inline tensor::Workload TwoStages(std::vector<int64_t> shape) {
  return OneInput(std::move(shape), [](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return tensor::Map(b, "z", y, [](tensor::Expr e) { return e + 1; });
  });
}

/// y = 2x over n elements, z[i] = y[i] + y[i + 1] + y[i + 2] over n - 2.
inline tensor::Workload Stencil(int64_t n) {
  return OneInput({n}, [n](tensor::WorkloadBuilder& b, tensor::Tensor x) {
    const tensor::Tensor y = tensor::Map(b, "y", x, [](tensor::Expr e) { return e * 2; });
    return b.Compute("z", {n - 2},
                     [&](const auto& i) { return y(i[0]) + y(i[0] + 1) + y(i[0] + 2); });
  });
}

}  // namespace bayloom::testing
