// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/spelling.h"

#include <gtest/gtest.h>

namespace bayloom::base {
namespace {

TEST(Spelling, FindsTheWordThatWasMeant) {
  const std::vector<std::string_view> words = {"permutation", "categorical", "real"};
  EXPECT_EQ(ClosestMatch("permuation", words), "permutation");
  EXPECT_EQ(ClosestMatch("Real", words), "real");
  EXPECT_EQ(ClosestMatch("banana", words), "");
}

}  // namespace
}  // namespace bayloom::base
