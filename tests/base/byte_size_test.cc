// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/byte_size.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace bayloom::base {
namespace {

TEST(ByteSizeTest, ReadsPowersOf1000AndOf1024) {
  EXPECT_EQ(*ParseByteSize("65536"), 65536);
  EXPECT_EQ(*ParseByteSize("12B"), 12);
  EXPECT_EQ(*ParseByteSize("400k"), 400'000);
  EXPECT_EQ(*ParseByteSize("1.5MB"), 1'500'000);
  EXPECT_EQ(*ParseByteSize("512KiB"), int64_t{512} << 10);
  EXPECT_EQ(*ParseByteSize("4GiB"), int64_t{4} << 30);
}

TEST(ByteSizeTest, RefusesWhatIsNoSize) {
  for (const char* text : {"", "k", "0", "-1", "0.5", "1KB", "1kiB", "1 MB", "1mb", "1e3", "inf",
                           "nan", "2000000TB", "12k3"}) {
    EXPECT_FALSE(ParseByteSize(text).ok()) << text;
  }
}

}  // namespace
}  // namespace bayloom::base
