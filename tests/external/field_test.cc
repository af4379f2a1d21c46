#include "bayloom/external/field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

using testing::HasSubstr;

std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Field, ReadsYamlAndJsonAlike) {
  for (const char* text :
       {"a: {b: [1, 2.5, true]}\nc: '7'\n", "{\"a\":{\"b\":[1,2.5,true]},\n\t\"c\": \"7\"}"}) {
    const Field top = Field::Parse(text, "file");
    const std::vector<Field> items = top.At("a").At("b").Items();
    ASSERT_EQ(items.size(), 3u);
    EXPECT_EQ(items[0].Int(), 1);
    EXPECT_EQ(items[1].Real(), 2.5);
    EXPECT_TRUE(items[2].Bool());
    EXPECT_TRUE(top.At("c").Scalar().is_string());
    EXPECT_FALSE(top.Find("d"));
  }
}

TEST(Field, SaysWhereWhatIsWrong) {
  const Field top = Field::Parse("first: 1\nmap:\n  inner: [1, x]\n", "file.yaml");
  const Field inner = top.At("map").At("inner");
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

TEST(Field, RefusesWhatIsNoDocument) {
  for (const char* text : {"", "a: [1", "{", "\"", "a: 1\na: 2", "- &a [*b]", "--- 1\n--- 2", "%",
                           "\t- x\n\t y", "{a: 1}}", "? [1]: 2"}) {
    const std::string message = MessageOf([&] { (void)Field::Parse(text, "file").Entries(); });
    EXPECT_NE(message, "") << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
  }
}

TEST(Field, ReadsDurationsAndSizes) {
  const Field top = Field::Parse(
      "[30, 500ms, 90s, 10m, 1.5h, 1h30m, 0, -1, soon, 5 parsecs, 65536, 512MiB, 1.5GiB, 3KB]",
      "f");
  const std::vector<Field> items = top.Items();
  const double seconds[] = {30, 0.5, 90, 600, 5400, 5400};
  for (size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(items[i].Duration(), seconds[i]);
  for (size_t i = 6; i < 10; ++i) EXPECT_THROW((void)items[i].Duration(), InputError) << i;
  EXPECT_EQ(items[10].Bytes(), 65536);
  EXPECT_EQ(items[11].Bytes(), int64_t{512} << 20);
  EXPECT_EQ(items[12].Bytes(), int64_t{3} << 29);
  EXPECT_THROW((void)items[13].Bytes(), InputError);
}

TEST(Field, WholeNumbersAreExact) {
  const Field top = Field::Parse("[9007199254740993, 1e3, 010, 1.5, 1e300, '5', 0x10]", "f");
  const std::vector<Field> items = top.Items();
  EXPECT_EQ(items[0].Int(), 9007199254740993);
  EXPECT_EQ(items[1].Int(), 1000);
  EXPECT_EQ(items[2].Int(), 10);  // decimal, not octal
  for (size_t i = 3; i < items.size(); ++i) EXPECT_THROW((void)items[i].Int(), InputError) << i;
}

TEST(Field, KeepsMessagesInOneLine) {
  EXPECT_EQ(InOneLine("a\nb\tc", 10), "a b c");
  EXPECT_EQ(InOneLine("abcdef", 3), "abc...");
  EXPECT_EQ(InOneLine("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9...");  // no half character
  EXPECT_EQ(InOneLine("a\xffz\xc3", 10), "a?z?");
  EXPECT_EQ(InOneLine("\xe2\x82\xac \xf0\x9f\x98\x80", 10), "\xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(InOneLine("\xc0\x80\xed\xa0\x80\xf5", 10), "??????");  // overlong, surrogate, too large
}

}  // namespace
}  // namespace bayloom
