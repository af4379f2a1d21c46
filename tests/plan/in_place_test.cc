// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Intermediates that are kept in the memory of an output.

#include <gtest/gtest.h>

#include "bayloom/plan/memory_plan.h"
#include "tests/plan/normalized_rows.h"

namespace bayloom::testing {
namespace {

TEST(InPlacePlan, WhatIsReadAtTheElementThatIsWritten) {
  EXPECT_EQ(KeeperOf(tensor::Lower(RowsOf(Use::kElement))), "y");
  EXPECT_EQ(KeeperOf(tensor::Lower(RowsOf(Use::kMirrored))), "");
  EXPECT_EQ(KeeperOf(tensor::Lower(RowsOf(Use::kTransposedRows))), "");
  EXPECT_EQ(KeeperOf(tensor::Lower(RowsOf(Use::kElement, tensor::DType::kInt32))), "");
  EXPECT_EQ(KeeperOf(tensor::Lower(RowsOf(Use::kAlsoOutput))), "z");  // y is not the last reader
}

TEST(InPlacePlan, TakesNoWorkspace) {
  const tensor::Program program = tensor::Lower(RowsOf(Use::kElement));
  EXPECT_LT(plan::PlanMemory(program).shared_bytes, kColumns);
  EXPECT_GE(plan::PlanMemory(tensor::Lower(RowsOf(Use::kMirrored))).shared_bytes,
            4 * kRows * kColumns);
}

}  // namespace
}  // namespace bayloom::testing
