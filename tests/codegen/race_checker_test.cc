// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/gpu/race_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::codegen {
namespace {

using ::testing::HasSubstr;

/// Ten floats that all blocks share, then eight that each block has for itself.
class RaceCheckerTest : public ::testing::Test {
 protected:
  std::optional<std::string> Read(int memory, int64_t element, Accessor by, int64_t bytes = 4) {
    return checker_.Check(memory, Base(memory) + 4 * element, bytes, false, by);
  }
  std::optional<std::string> Write(int memory, int64_t element, Accessor by, int64_t bytes = 4) {
    return checker_.Check(memory, Base(memory) + 4 * element, bytes, true, by);
  }
  const std::byte* Base(int memory) const { return memory == 0 ? global_ : shared_; }

  static constexpr int kGlobal = 0, kShared = 1;
  std::byte global_[40], shared_[32];
  RaceChecker checker_{{{"y", global_, 40, 4, false}, {"x.shared", shared_, 32, 4, true}}};
};

TEST_F(RaceCheckerTest, OneThreadMayDoAsItLikes) {
  const Accessor thread{0, 3, 0};
  EXPECT_FALSE(Write(kShared, 2, thread));
  EXPECT_FALSE(Read(kShared, 2, thread));
  EXPECT_FALSE(Write(kShared, 2, thread));
  EXPECT_EQ(checker_.accesses(), 3);
}

TEST_F(RaceCheckerTest, NamesElementThreadsAndBarriers) {
  EXPECT_FALSE(Write(kShared, 5, {0, 3, 2}));
  const auto race = Read(kShared, 5, {0, 7, 2});
  ASSERT_TRUE(race);
  EXPECT_THAT(*race, HasSubstr("element 5 of x.shared (byte 20)"));
  EXPECT_THAT(*race, HasSubstr("thread 7 of block 0 reads what is written by thread 3"));
  EXPECT_THAT(*race, HasSubstr("after 2 barriers"));
}

TEST_F(RaceCheckerTest, ABarrierOrdersThreadsOfABlock) {
  EXPECT_FALSE(Write(kShared, 5, {0, 3, 0}));
  EXPECT_FALSE(Read(kShared, 5, {0, 7, 1}));
  EXPECT_FALSE(Read(kShared, 5, {0, 8, 1}));
  EXPECT_FALSE(Write(kShared, 5, {0, 1, 2}));
  EXPECT_TRUE(Write(kShared, 5, {0, 2, 2}));
}

TEST_F(RaceCheckerTest, WritesMeetReadsOfAnyOtherThread) {
  for (const int writer : {1, 2, 3}) {
    checker_.BeginBlock();
    for (const int reader : {1, 2, 3}) EXPECT_FALSE(Read(kShared, 0, {0, reader, 0}));
    EXPECT_TRUE(Write(kShared, 0, {0, writer, 0})) << writer;
  }
  checker_.BeginBlock();
  EXPECT_FALSE(Read(kShared, 0, {0, 1, 0}));
  EXPECT_FALSE(Write(kShared, 0, {0, 1, 0}));
}

TEST_F(RaceCheckerTest, NothingOrdersBlocks) {
  EXPECT_FALSE(Write(kGlobal, 1, {0, 0, 4}));
  EXPECT_TRUE(Write(kGlobal, 1, {1, 0, 9}));
  EXPECT_FALSE(Read(kGlobal, 2, {0, 0, 0}));
  for (const int thread : {0, 1, 2}) EXPECT_FALSE(Read(kGlobal, 2, {1, thread, 0}));
  EXPECT_TRUE(Write(kGlobal, 2, {1, 0, 3}));  // block 0 has read it
}

TEST_F(RaceCheckerTest, EachBlockHasItsOwnSharedMemory) {
  EXPECT_FALSE(Write(kShared, 1, {0, 0, 0}));
  checker_.BeginBlock();
  EXPECT_FALSE(Write(kShared, 1, {1, 5, 0}));
}

TEST_F(RaceCheckerTest, NamesAccessesOutOfBounds) {
  const auto after = Write(kShared, 8, {2, 1, 0});
  ASSERT_TRUE(after);
  EXPECT_THAT(*after, HasSubstr("thread 1 of block 2 writes byte 32 of x.shared, which has 32"));
  EXPECT_TRUE(Read(kShared, -1, {0, 0, 0}));
  EXPECT_TRUE(Read(kShared, 7, {0, 0, 0}, 8));
  EXPECT_FALSE(Read(kShared, 6, {0, 0, 0}, 8));
  EXPECT_FALSE(Read(kShared, 100, {0, 0, 0}, 0));
}

}  // namespace
}  // namespace bayloom::codegen
