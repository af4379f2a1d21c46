// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/yaml_value.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "tests/message_of.h"

namespace bayloom::yaml {
namespace {

using testing::HasSubstr;

TEST(YamlValue, ReadsYamlAndJsonAlike) {
  for (const char* text :
       {"a: {b: [1, 2.5, true]}\nc: '7'\n", "{\"a\":{\"b\":[1,2.5,true]},\n\t\"c\": \"7\"}"}) {
    const YamlValue top = YamlValue::Parse(text, "file");
    const std::vector<YamlValue> items = top.At("a").At("b").Items();
    ASSERT_EQ(items.size(), 3u);
    EXPECT_EQ(items[0].Int(), 1);
    EXPECT_EQ(items[1].Real(), 2.5);
    EXPECT_TRUE(items[2].Bool());
    EXPECT_TRUE(top.At("c").Scalar().is_string());
    EXPECT_FALSE(top.Find("d"));
  }
}

TEST(YamlValue, SaysWhereWhatIsWrong) {
  const YamlValue top = YamlValue::Parse("first: 1\nmap:\n  inner: [1, x]\n", "file.yaml");
  const YamlValue inner = top.At("map").At("inner");
  EXPECT_EQ(MessageOf([&] { (void)inner.Items()[1].Real(); }),
            "file.yaml:3:14: map.inner[1]: expected a number, found 'x'");
  EXPECT_EQ(MessageOf([&] { (void)top.At("map").At("outer"); }),
            "file.yaml:3:3: map: 'outer' is missing");
  EXPECT_EQ(MessageOf([&] { (void)inner.Text(); }),
            "file.yaml:3:10: map.inner: expected a text, found a list");
  EXPECT_THAT(MessageOf([&] {
                top.AllowOnly({"frist", "map"});
              }),
              HasSubstr("file.yaml:1:8: first: is not known here; is 'frist' meant?"));
}

TEST(YamlValue, RefusesWhatIsNoDocument) {
  for (const char* text : {"", "a: [1", "{", "\"", "a: 1\na: 2", "- &a [*b]", "--- 1\n--- 2", "%",
                           "\t- x\n\t y", "{a: 1}}", "? [1]: 2"}) {
    const std::string message = MessageOf([&] { (void)YamlValue::Parse(text, "file").Entries(); });
    EXPECT_NE(message, "") << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
  }
}

TEST(YamlValue, RefusesDocumentsThatContainThemselves) {
  EXPECT_EQ(MessageOf([] { (void)YamlValue::Parse("a: &a {a: *a, b: 1}", "file"); }),
            "file:1:11: an alias stands within what it repeats");
}

TEST(YamlValue, RefusesWhatIsNestedTooDeep) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  (void)YamlValue::Parse(nested(100), "file");
  EXPECT_EQ(MessageOf([&] { (void)YamlValue::Parse(nested(101), "file"); }),
            "file:1:101: nested more than 100 deep");
  // Aliases nest as what they stand for.
  const std::string halves = "a: &a " + nested(60) + "\nb: " + std::string(60, '[') + "*a";
  EXPECT_THAT(MessageOf([&] { (void)YamlValue::Parse(halves + std::string(60, ']'), "file"); }),
              HasSubstr("file:2:64: nested more than 100 deep"));
  EXPECT_NE(MessageOf([&] { (void)YamlValue::Parse(nested(1000000), "file"); }), "");
}

TEST(YamlValue, RefusesAliasesThatRepeatWithoutEnd) {
  std::string bomb = "l0: &l0 [1, 2]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += fmt::format("l{0}: &l{0} [*l{1}, *l{1}, *l{1}, *l{1}, *l{1}, *l{1}]\n", i, i - 1);
  }
  EXPECT_THAT(MessageOf([&] { (void)YamlValue::Parse(bomb, "file"); }),
              HasSubstr("aliases repeat more than 100000 values"));
  const YamlValue top = YamlValue::Parse("a: &a [1, 2]\nb: [*a, *a]", "file");
  EXPECT_EQ(top.At("b").Items()[1].Items()[1].Int(), 2);
}

TEST(YamlValue, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(
      MessageOf([] { (void)YamlValue::Parse("a: caf\xc3\xa9\nb: [\xc3\xa9, caf\xe9]", "f"); }),
      "f:2:11: the byte 0xE9 is not part of UTF-8 text");
}

TEST(YamlValue, NamesAreShortAndPrintable) {
  const auto top = YamlValue::Parse(
      "[plain, \"tab\\there\", \"\\e[31mred\", '', " + std::string(201, 'x') + "]", "f");
  const std::vector<YamlValue> items = top.Items();
  EXPECT_EQ(items[0].Name(), "plain");
  EXPECT_THAT(MessageOf([&] { (void)items[1].Name(); }), HasSubstr("has control characters"));
  EXPECT_THAT(MessageOf([&] { (void)items[2].Name(); }), HasSubstr("has control characters"));
  EXPECT_THAT(MessageOf([&] { (void)items[3].Name(); }), HasSubstr("found an empty text"));
  EXPECT_THAT(MessageOf([&] { (void)items[4].Name(); }), HasSubstr("at most 200 bytes, not 201"));
}

TEST(YamlValue, FindsTheFirstOfSeveralKeys) {
  const YamlValue top = YamlValue::Parse("b: 1\nc: 2\na:\n", "file");
  EXPECT_EQ(top.FindAny({"c", "b"})->Int(), 2);
  EXPECT_EQ(top.FindAny({"a", "b"})->Int(), 1);  // null is as if not given
  EXPECT_FALSE(top.FindAny({"a", "d"}));
  EXPECT_EQ(MessageOf([&] { (void)top.AtAny({"a", "d"}); }), "file:1:1: 'a' is missing");
  EXPECT_EQ(MessageOf([] { (void)YamlValue::Parse("a: {b: 1, b: 2}", "file").At("a").At("b"); }),
            "file:1:14: a.b: is given twice");
}

TEST(YamlValue, RefusesMisspeltKeysOnly) {
  const YamlValue top = YamlValue::Parse("wordbits: 8\nother: 1\n", "file");
  EXPECT_EQ(MessageOf([&] { top.RefuseMisspelt({"word-bits"}); }),
            "file:1:11: wordbits: is not known here; is 'word-bits' meant?");
  top.RefuseMisspelt({"depth"});
  EXPECT_THAT(MessageOf([&] {
                top.AllowOnly({"depth", "other"});
              }),
              HasSubstr("known are depth, other"));
}

TEST(YamlValue, ReadsTruthAndTexts) {
  const YamlValue top = YamlValue::Parse("[true, False, yes, OFF, 'true', 1, [a, 2], a]", "f");
  const std::vector<YamlValue> items = top.Items();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(items[i].Bool(), i % 2 == 0) << i;
  for (size_t i = 4; i < 7; ++i) EXPECT_THROW((void)items[i].Bool(), InputError) << i;
  EXPECT_EQ(items[2].Scalar(), "yes");
  EXPECT_EQ(items[6].Texts(), (std::vector<std::string>{"a", "2"}));
  EXPECT_EQ(items[7].Texts(), std::vector<std::string>{"a"});
}

TEST(YamlValue, ReadsDurationsAndSizes) {
  const YamlValue top = YamlValue::Parse(
      "[30, 500ms, 90s, 10m, 1.5h, 1h30m, 0, -1, soon, 5 parsecs, 65536, 512MiB, 1.5GiB, 3KB]",
      "f");
  const std::vector<YamlValue> items = top.Items();
  const double seconds[] = {30, 0.5, 90, 600, 5400, 5400};
  for (size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(items[i].Duration(), seconds[i]);
  for (size_t i = 6; i < 10; ++i) EXPECT_THROW((void)items[i].Duration(), InputError) << i;
  EXPECT_EQ(items[10].Bytes(), 65536);
  EXPECT_EQ(items[11].Bytes(), int64_t{512} << 20);
  EXPECT_EQ(items[12].Bytes(), int64_t{3} << 29);
  EXPECT_THROW((void)items[13].Bytes(), InputError);
}

TEST(YamlValue, WholeNumbersAreExact) {
  const YamlValue top =
      YamlValue::Parse("[9007199254740993, 1e3, 010, 1.5, 1e300, '5', 0x10]", "f");
  const std::vector<YamlValue> items = top.Items();
  EXPECT_EQ(items[0].Int(), 9007199254740993);
  EXPECT_EQ(items[1].Int(), 1000);
  EXPECT_EQ(items[2].Int(), 10);  // decimal, not octal
  for (size_t i = 3; i < items.size(); ++i) EXPECT_THROW((void)items[i].Int(), InputError) << i;
}

}  // namespace
}  // namespace bayloom::yaml
