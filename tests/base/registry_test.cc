// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/registry.h"

#include <gtest/gtest.h>

namespace bayloom::base {
namespace {

Registry<int> Numbers() { return {"number", {{"one", "the first", 1}, {"two", "the second", 2}}}; }

TEST(Registry, MakesStableAndExperimentalVariantsByName) {
  Registry<int> numbers = Numbers();
  EXPECT_EQ(numbers.At("two"), 2);
  EXPECT_FALSE(numbers.Check("three"));
  numbers.RegisterExperimental({"three", "the third", 3});
  EXPECT_EQ(numbers.At("three"), 3);
  EXPECT_TRUE(numbers.Check("three"));
  EXPECT_EQ(numbers.SummaryOf("three"), "the third");
  EXPECT_EQ(numbers.SummaryOf("one"), "the first");
}

TEST(Registry, ListsStableAndExperimentalNamesApart) {
  Registry<int> numbers = Numbers();
  numbers.RegisterExperimental({"four", "", 4});
  numbers.RegisterExperimental({"three", "", 3});
  EXPECT_EQ(numbers.Names(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(numbers.ExperimentalNames(), (std::vector<std::string>{"four", "three"}));
  EXPECT_EQ(numbers.AllNames(), (std::vector<std::string>{"one", "two", "four", "three"}));
}

TEST(Registry, RefusesUnknownNamesAndListsTheStableOnes) {
  Registry<int> numbers = Numbers();
  numbers.RegisterExperimental({"three", "", 3});
  try {
    numbers.At("f\nve");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "unknown number 'f\\nve'; known are one, two");
  }
  EXPECT_EQ(numbers.Check("five").error().message, "unknown number 'five'; known are one, two");
  EXPECT_THROW(numbers.SummaryOf("five"), InputError);
}

TEST(Registry, ReplacesExperimentalVariantsButNotStableOnes) {
  Registry<int> numbers = Numbers();
  numbers.RegisterExperimental({"three", "", 4});
  numbers.RegisterExperimental({"three", "", 3});
  EXPECT_EQ(numbers.At("three"), 3);
  EXPECT_EQ(numbers.ExperimentalNames().size(), 1u);
  EXPECT_THROW(numbers.RegisterExperimental({"one", "", 3}), std::logic_error);
  EXPECT_EQ(numbers.At("one"), 1);
}

}  // namespace
}  // namespace bayloom::base
