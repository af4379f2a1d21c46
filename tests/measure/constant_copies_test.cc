// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/constant_copies.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace bayloom::measure {
namespace {

constexpr int64_t kCacheBytes = 4096;

const std::byte* BytesOf(const std::string& text) {
  return reinterpret_cast<const std::byte*>(text.data());
}

TEST(ConstantCopies, TogetherAreLargerThanTheCache) {
  const std::string weights(1000, 'w'), bias(24, 'b');
  ConstantCopies copies(kCacheBytes);
  copies.Copy({{1, BytesOf(weights), 1000}, {3, BytesOf(bias), 24}});
  char input = 'x';
  std::vector<void*> parameters = {&input, nullptr, &input, nullptr};
  std::set<void*> places;
  while (true) {
    copies.Next(parameters);
    if (!places.insert(parameters[1]).second) break;
    EXPECT_EQ(std::memcmp(parameters[1], weights.data(), weights.size()), 0);
    EXPECT_EQ(std::memcmp(parameters[3], bias.data(), bias.size()), 0);
    EXPECT_EQ(parameters[0], &input);
    EXPECT_EQ(parameters[2], &input);
  }
  EXPECT_GT(static_cast<int64_t>(places.size()) * 1024, kCacheBytes);
}

TEST(ConstantCopies, OthersTakeTheirPlace) {
  const std::string first(100, '1'), second(300, '2');
  ConstantCopies copies(kCacheBytes);
  copies.Copy({{0, BytesOf(first), 100}});
  copies.Copy({{1, BytesOf(second), 300}});
  std::vector<void*> parameters = {nullptr, nullptr};
  copies.Next(parameters);
  EXPECT_EQ(parameters[0], nullptr);
  EXPECT_EQ(std::memcmp(parameters[1], second.data(), second.size()), 0);
}

TEST(ConstantCopies, AreNotMadeOfNothingOrOfWhatNoCacheHolds) {
  const std::string large(4 * kCacheBytes, 'l');
  ConstantCopies copies(kCacheBytes);
  std::vector<void*> parameters = {nullptr};
  copies.Copy({});
  copies.Next(parameters);
  EXPECT_EQ(parameters[0], nullptr);
  copies.Copy({{0, BytesOf(large), std::ssize(large)}});
  copies.Next(parameters);
  EXPECT_EQ(parameters[0], nullptr);
}

}  // namespace
}  // namespace bayloom::measure
