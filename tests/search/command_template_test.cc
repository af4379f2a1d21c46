// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/command_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bayloom::search {
namespace {

using testing::ElementsAre;

std::string NameAndIndex(const TextTemplate::Placeholder& hole) {
  return "<" + hole.name + (hole.index < 0 ? "" : ":" + std::to_string(hole.index)) + ">";
}

TEST(TextTemplate, FillsHoles) {
  const auto parsed = TextTemplate::Parse("--t={tile} {order[12]}{{not}} {a-b.c}");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->Fill(NameAndIndex), "--t=<tile> <order:12>{not} <a-b.c>");
  EXPECT_EQ(parsed->Placeholders().size(), 3u);
}

TEST(TextTemplate, RefusesWhatIsNoHole) {
  for (const char* text : {"{", "}", "{}", "{a b}", "{a", "a}", "{a[}", "{a[]}", "{a[x]}",
                           "{a[-1]}", "{a[99999]}", "{a[1]b}", "{{a}"}) {
    const auto parsed = TextTemplate::Parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, testing::HasSubstr("column")) << text;
  }
}

TEST(TextTemplate, ABraceOfASectionIsOneThatTheSectionOpened) {
  const auto filled = [](const std::string& text, bool is_active) {
    const auto parsed = TextTemplate::Parse(text);
    EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
    return parsed->Fill(NameAndIndex, [&](const std::string&) { return is_active; });
  };
  const std::string around = R"({{"u": 1{v?, "v": {v}}}})";
  EXPECT_EQ(filled(around, true), R"({"u": 1, "v": <v>})");
  EXPECT_EQ(filled(around, false), R"({"u": 1})");
  const std::string within = R"({{"u": 1{v?, "v": {{"w": {v}}}}}})";
  EXPECT_EQ(filled(within, true), R"({"u": 1, "v": {"w": <v>}})");
  EXPECT_EQ(filled(within, false), R"({"u": 1})");
  EXPECT_EQ(filled("{{{v?x}}}{v?y}", true), "{x}y");
  EXPECT_EQ(filled("{{{v?x}}}{v?y}", false), "{}");
  EXPECT_FALSE(TextTemplate::Parse("{v?{{x}}"));
}

TEST(SplitArguments, FollowsTheQuotingOfShells) {
  EXPECT_THAT(*SplitArguments("gcc  -O2 'a b' \"c \\\"d\\\" \\n\" e\\ f '' x'y'\"z\""),
              ElementsAre("gcc", "-O2", "a b", "c \"d\" \\n", "e f", "", "xyz"));
  EXPECT_THAT(*SplitArguments("  "), ElementsAre());
  EXPECT_FALSE(SplitArguments("'open"));
  EXPECT_FALSE(SplitArguments("end\\"));
}

}  // namespace
}  // namespace bayloom::search
