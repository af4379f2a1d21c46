// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/experimental/register.h"
#include "bayloom/optimizer/transfer.h"
#include "tests/mapspace/similar_mapspaces.h"
#include "tests/optimizer/optimizer_contract.h"
#include "tests/optimizer/similar_tasks.h"

namespace bayloom::optimizer {

std::vector<std::string> ExperimentalOptimizers() {
  experimental::Register();
  return Optimizers().ExperimentalNames();
}

INSTANTIATE_TEST_SUITE_P(Experimental, OptimizerContract,
                         testing::Combine(testing::ValuesIn(ExperimentalOptimizers()),
                                          testing::ValuesIn(AllSpaceCases())),
                         OptimizerCaseName);

}  // namespace bayloom::optimizer

namespace bayloom::experimental {
namespace {

TEST(TransferMethods, NeedFewTrialsWhereTasksAreAlike) {
  Register();
  const std::vector<std::string> methods = optimizer::TransferMethods().ExperimentalNames();
  EXPECT_EQ(methods, (std::vector<std::string>{"stacking", "sum"}));
  for (const std::string& method : methods) {
    optimizer::ExpectFewTrialsNeeded(method);
    mapspace::ExpectToBeginWhereRandomMappingsEnd(method);
  }
}

}  // namespace
}  // namespace bayloom::experimental
