// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/python_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::search {
namespace {

std::vector<double> Numbers(const char* text) {
  const auto items = EvaluatePythonList(text);
  EXPECT_TRUE(items) << text << ": " << items.error().message;
  std::vector<double> numbers;
  for (const PythonItem& item : *items) numbers.push_back(std::get<double>(item));
  return numbers;
}

TEST(PythonList, EvaluatesWhatFilesOfTheHubHold) {
  using Values = std::vector<double>;
  EXPECT_EQ(Numbers("[16, 32, 48]"), (Values{16, 32, 48}));
  EXPECT_EQ(Numbers("[2**i for i in range(0, 6)]"), (Values{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(Numbers("[i for i in range(1, 3+1)]"), (Values{1, 2, 3}));
  EXPECT_EQ(Numbers("[1, 2] + list(range(32, 96+1, 32))"), (Values{1, 2, 32, 64, 96}));
  EXPECT_EQ(Numbers("[32 * i - (i % 2) for i in range(3)]"), (Values{0, 31, 64}));
  EXPECT_EQ(Numbers("[True, False, -2**2, 7//2, 1/4, .5, 1e3,]"),
            (Values{1, 0, -4, 3, 0.25, 0.5, 1000}));
  EXPECT_EQ(Numbers("range(5, 0, -2)"), (Values{5, 3, 1}));
  const auto texts = EvaluatePythonList("['row', \"column\"]");
  ASSERT_TRUE(texts);
  EXPECT_EQ(std::get<std::string>((*texts)[1]), "column");
}

TEST(PythonList, NamesTheColumnOfWhatItCannotRead) {
  for (const std::string& text : {std::string(""),
                                  std::string("["),
                                  std::string("[1"),
                                  std::string("[1 2]"),
                                  std::string("[x]"),
                                  std::string("[i for j in range(3)]"),
                                  std::string("[1] + 2"),
                                  std::string("[1//0]"),
                                  std::string("range(0, 1, 0)"),
                                  std::string("range(1000000)"),
                                  std::string("['a]"),
                                  std::string("[1] extra"),
                                  std::string("__import__('os')"),
                                  std::string("[10**400]"),
                                  std::string("[lambda: 1]"),
                                  std::string(100000, '['),
                                  "[" + std::string(100000, '(') + "1",
                                  "[" + std::string(100000, '-') + "1]",
                                  std::string("[1 for i in [1, 2]]"),
                                  std::string("\xff")}) {
    const auto items = EvaluatePythonList(text);
    ASSERT_FALSE(items) << text;
    EXPECT_THAT(items.error().message, testing::HasSubstr("column")) << text;
  }
}

}  // namespace
}  // namespace bayloom::search
