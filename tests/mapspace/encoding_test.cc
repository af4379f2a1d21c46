// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/encoding.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "tests/mapspace/encoding_contract.h"

namespace bayloom::mapspace {
namespace {

INSTANTIATE_TEST_SUITE_P(All, EncodingContract,
                         testing::Combine(testing::ValuesIn(TileEncodings().Names()),
                                          testing::ValuesIn(OrderEncodings().Names())),
                         EncodingCaseName);

TEST(MappingEncoding, RefusesUnknownNames) {
  const SmallProduct product("gemmini");
  const auto refusal = [&](const std::string& tiles, const std::string& orders) -> std::string {
    try {
      MakeMappingEncoding(product.mapspace, product.model, tiles, orders);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("aspect", "ranking"),
            "unknown tile encoding 'aspect'; known are divisor, integer");
  EXPECT_EQ(refusal("divisor", "categorical"),
            "unknown order encoding 'categorical'; known are permutation, ranking");
}

}  // namespace
}  // namespace bayloom::mapspace
