// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/tensor/access.h"
#include "tests/tensor/random_schedule.h"
#include "tests/tensor/workloads.h"

namespace bayloom::testing {
namespace {

/// Runs a program's loops and checks, at every execution of a block, that the accesses stay within
/// what AllocationOf sets aside and that LinearOffset says where they fall.
class AccessChecker {
 public:
  explicit AccessChecker(const tensor::Program& program)
      : program_(program), digits_(program.digit_extents.size()) {
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      const auto id = static_cast<tensor::BufferId>(b);
      const bool intermediate = program.buffers[b].role == tensor::BufferRole::kIntermediate;
      if (intermediate && program.WriterOf(id) >= 0) {
        allocations_.push_back(tensor::AllocationOf(program, id));
      } else {
        const tensor::Buffer& buffer = program.buffers[b];
        allocations_.push_back({tensor::NodeRef::Root(), buffer.shape,
                                std::vector<tensor::Affine>(buffer.shape.size())});
      }
    }
    accesses_.resize(program.blocks.size());
    for (tensor::BlockId block : program.BlocksInOrder())
      accesses_[block] = tensor::AccessesOf(program, block);
  }

  void Check() { CheckBody(program_.roots); }
  int64_t shrunk() const { return shrunk_; }

 private:
  void CheckBody(const std::vector<tensor::NodeRef>& body) {
    for (tensor::NodeRef node : body) {
      if (node.is_block()) {
        for (const tensor::Access& access : accesses_[node.id]) CheckAccess(access);
        continue;
      }
      const tensor::Loop& loop = program_.loops[node.id];
      for (int64_t i = 0; i < program_.ExtentOf(node.id); ++i) {
        int64_t rest = i;
        for (size_t d = loop.digits.size(); d-- > 0;) {
          const int64_t extent = program_.digit_extents[loop.digits[d]];
          digits_[loop.digits[d]] = rest % extent;
          rest /= extent;
        }
        CheckBody(loop.body);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }

  int64_t ValueOf(const tensor::Affine& affine) const {
    int64_t value = affine.constant;
    for (const tensor::Affine::Term& term : affine.terms)
      value += digits_[term.digit] * term.coefficient;
    return value;
  }

  void CheckAccess(const tensor::Access& access) {
    const tensor::Buffer& buffer = program_.buffers[access.buffer];
    const tensor::Allocation& allocation = allocations_[access.buffer];
    int64_t place = 0, size = 1;
    for (size_t d = 0; d < access.indices.size(); ++d) {
      if (!access.indices[d]) return;
      const int64_t index = ValueOf(*access.indices[d]);
      const bool inside = index >= 0 && index < buffer.shape[d];
      if (access.guarded && !inside) return;
      ASSERT_TRUE(inside) << buffer.name << " at " << index;
      const int64_t local = index - ValueOf(allocation.origin[d]);
      ASSERT_TRUE(local >= 0 && local < allocation.shape[d])
          << buffer.name << " at " << index << ", place " << local << " of " << allocation.shape[d];
      place = place * allocation.shape[d] + local;
      size *= allocation.shape[d];
    }
    shrunk_ += allocation.shape != buffer.shape;
    const std::optional<tensor::Affine> offset =
        tensor::LinearOffset(program_, access, &allocation);
    if (buffer.layout.empty()) {
      ASSERT_TRUE(offset);
      ASSERT_EQ(ValueOf(*offset), place) << buffer.name;
    } else if (offset) {
      ASSERT_TRUE(ValueOf(*offset) >= 0 && ValueOf(*offset) < size) << buffer.name;
    }
  }

  const tensor::Program& program_;
  std::vector<int64_t> digits_;
  std::vector<tensor::Allocation> allocations_;
  std::vector<std::vector<tensor::Access>> accesses_;
  int64_t shrunk_ = 0;  ///< accesses to buffers smaller than what they stand for
};

TEST(RandomAccessTest, StaysInItsAllocationWhateverTheSchedule) {
  int64_t shrunk = 0;
  for (const NamedWorkload& named : Catalogue()) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      tensor::Program program = tensor::Lower(named.workload);
      RandomScheduler scheduler(program, 31 * seed + named.name.size());
      for (int step = 0; step < 50; ++step) scheduler.Step();
      SCOPED_TRACE(named.name + "\n" + tensor::Print(program));
      AccessChecker checker(program);
      checker.Check();
      ASSERT_FALSE(HasFailure());
      shrunk += checker.shrunk();
    }
  }
  EXPECT_GT(shrunk, 10000);
}

}  // namespace
}  // namespace bayloom::testing
