// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace bayloom::base {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, RefusesWhatIsNestedTooDeepBeforeBuildingIt) {
  EXPECT_TRUE(ParseJson(Nested(500)));
  for (const int depth : {501, 100000, 10000000}) {
    const Result<nlohmann::json> json = ParseJson(Nested(depth));
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().message, "it is nested more than 500 deep");
  }
  EXPECT_TRUE(ParseJsonOrDiscard(R"({"a": )" + Nested(600) + "}").is_discarded());
}

TEST(ParseJson, BracketsInTextsDoNotNest) {
  const Result<nlohmann::json> json = ParseJson("[\"\\\"" + std::string(1000, '[') + "\", 1]");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)[0].get<std::string>().size(), 1001u);
}

TEST(ParseJson, SaysWhatIsWrongInOneLineWithoutTheLibrarysWords) {
  for (const char* text : {"", "{", "[1,]", "\"\xe9\"", "1e999", "nan", "{\"a\": 1}}", "\n\n{\n"}) {
    const Result<nlohmann::json> json = ParseJson(text);
    ASSERT_FALSE(json) << text;
    EXPECT_EQ(json.error().message.find('\n'), std::string::npos) << json.error().message;
    EXPECT_THAT(json.error().message, testing::Not(testing::HasSubstr("json.exception")));
  }
}

}  // namespace
}  // namespace bayloom::base
