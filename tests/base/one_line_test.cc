// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "bayloom/base/random.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/utf8.h"

namespace bayloom::base {
namespace {

TEST(SingleLine, EscapesControlCharactersAndCutsAtCharacters) {
  EXPECT_EQ(SingleLine("a\nb\tc\r\x1b[31m\x7f", 40), "a\\nb\\tc\\r\\x1b[31m\\x7f");
  EXPECT_EQ(SingleLine("abcdef", 3), "abc...");
  EXPECT_EQ(SingleLine("ab\ncd", 3), "ab...");                  // no half escape
  EXPECT_EQ(SingleLine("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9...");  // no half character
  EXPECT_EQ(SingleLine("a\xffz\xc3", 20), "a\\xffz\\xc3");
  EXPECT_EQ(SingleLine("\xe2\x82\xac \xf0\x9f\x98\x80", 10), "\xe2\x82\xac \xf0\x9f\x98\x80");
  // Overlong, a surrogate, too large.
  EXPECT_EQ(SingleLine("\xc0\x80\xed\xa0\x80\xf5"), "\\xc0\\x80\\xed\\xa0\\x80\\xf5");
  EXPECT_EQ(SingleLine(std::string("a\0b", 3)), "a\\x00b");
}

TEST(SingleLine, EscapesCharactersThatChangeWhatStandsAroundThem) {
  EXPECT_EQ(SingleLine("\xc2\x9b"
                       "31m"),
            "\\u009b31m");  // CSI of terminals with 8 bits
  EXPECT_EQ(SingleLine("a\xe2\x80\xae"
                       "b"),
            "a\\u202eb");  // right to left
  EXPECT_EQ(SingleLine("a\xe2\x80\xa8"
                       "b"),
            "a\\u2028b");                                               // line separator
  EXPECT_EQ(SingleLine("\xef\xbf\xbf\xef\xbb\xbf"), "\\uffff\\ufeff");  // not in XML, byte order
  EXPECT_EQ(SingleLine("\xf0\x9f\xbf\xbe"), "\\U0001fffe");
}

/// Bytes that are likely to be taken for something.
std::string RandomText(RandomStream& random) {
  static const std::string kParts[] = {
      "\x1b[2J",  "\n", "\r",       "\xc2\x9b",        "\xff", "\xc3", "\xe2\x80\xae",
      "\xc3\xa9", "\\", "ordinary", "\xf0\x9f\x98\x80"};
  std::string text;
  for (int64_t i = random.UniformInt(12); i > 0; --i) {
    text += random.UniformInt(3) == 0 ? std::string(1, static_cast<char>(random.UniformInt(256)))
                                      : kParts[random.UniformInt(std::size(kParts))];
  }
  return text;
}

TEST(SingleLine, IsPrintableUtf8OfBoundedLengthWhateverItIsGiven) {
  RandomStream random(3);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomText(random);
    const auto max_bytes = static_cast<size_t>(random.UniformInt(40));
    for (const std::string& line : {SingleLine(text, max_bytes), SingleLine(text, 10000)}) {
      ASSERT_TRUE(IsUtf8(line));
      for (std::string_view rest = line; !rest.empty();
           rest.remove_prefix(Utf8CharacterLength(rest))) {
        const char32_t c = Utf8Character(rest);
        ASSERT_TRUE(c >= 0x20 && (c < 0x7f || c > 0x9f)) << line;
      }
    }
    EXPECT_LE(SingleLine(text, max_bytes).size(), max_bytes + 3);
    EXPECT_EQ(SingleLine(SingleLine(text, 10000), 10000), SingleLine(text, 10000));
    EXPECT_LE(MessageInOneLine(text, max_bytes).size(), max_bytes + 4);
    EXPECT_TRUE(IsUtf8(MessageInOneLine(text, max_bytes)));
  }
}

TEST(MessageInOneLine, KeepsThePlaceAndTheReason) {
  const std::string message = "file.yaml:3: '" + std::string(200'000, 'x') + "' is no number";
  const std::string line = MessageInOneLine(message);
  EXPECT_LE(line.size(), 1004u);
  EXPECT_TRUE(line.starts_with("file.yaml:3: 'xxx"));
  EXPECT_TRUE(line.ends_with("xxx' is no number"));
  EXPECT_EQ(MessageInOneLine("short\n"), "short\\n");
}

TEST(Utf8, CountsCharacters) {
  EXPECT_EQ(CountUtf8Characters("a\xc3\xa9\xf0\x9f\x98\x80"), 3u);
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_FALSE(IsUtf8("caf\xe9"));
}

}  // namespace
}  // namespace bayloom::base
