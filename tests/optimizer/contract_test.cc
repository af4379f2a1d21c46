// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/result.h"
#include "tests/optimizer/optimizer_contract.h"

namespace bayloom::optimizer {
namespace {

INSTANTIATE_TEST_SUITE_P(All, OptimizerContract,
                         testing::Combine(testing::ValuesIn(Optimizers().Names()),
                                          testing::ValuesIn(AllSpaceCases())),
                         OptimizerCaseName);

TEST(MakeOptimizerTest, NamesTheChoicesWhenAskedForAnother) {
  const auto space = AllSpaceCases()[0].make();
  try {
    MakeOptimizer("gradient", space);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("bayesian"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace bayloom::optimizer
