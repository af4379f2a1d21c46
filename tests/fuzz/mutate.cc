// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

/// Values, and pieces of grammar, that readers stumble over.
constexpr std::string_view kPieces[] = {"0",
                                        "-1",
                                        "1",
                                        "1.5",
                                        "1e308",
                                        "-1e308",
                                        "1e999",
                                        "1e-320",
                                        "nan",
                                        ".nan",
                                        "inf",
                                        "-inf",
                                        ".inf",
                                        "2147483648",
                                        "4294967295",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551616",
                                        "0x7f",
                                        "1_000",
                                        "010",
                                        "true",
                                        "false",
                                        "null",
                                        "~",
                                        "yes",
                                        "''",
                                        "\"\"",
                                        "\"x\"",
                                        "[]",
                                        "{}",
                                        "[[]]",
                                        "{\"a\": 1}",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "(",
                                        ")",
                                        ":",
                                        ",",
                                        "\"",
                                        "'",
                                        "\n",
                                        "\r\n",
                                        "- ",
                                        "  ",
                                        "\t",
                                        "#",
                                        "&x ",
                                        "*x",
                                        "<<: *x",
                                        "!!int ",
                                        "!!binary ",
                                        "|\n",
                                        ">\n",
                                        "%",
                                        "? ",
                                        "---\n",
                                        "...\n",
                                        "\\",
                                        "\\u0000",
                                        "\\ud800",
                                        "\\e[31m",
                                        std::string_view("\0", 1),
                                        "\x1b[31m",
                                        "\x7f",
                                        "\xff",
                                        "\xc3\x28",
                                        "\xed\xa0\x80",
                                        "\xf0\x9f\x98\x80",
                                        "\xe2\x80\xae",
                                        "{x}",
                                        "{{",
                                        "**",
                                        "//0",
                                        "% 0",
                                        "->",
                                        "in []",
                                        "range(9)",
                                        "range(1, 10**9)",
                                        "for i in range(9)",
                                        "base64",
                                        "type",
                                        "value",
                                        "values",
                                        "name"};

std::string_view AnyPiece(base::RandomStream& random) {
  return kPieces[static_cast<size_t>(random.UniformInt(std::size(kPieces)))];
}

size_t Below(size_t bound, base::RandomStream& random) {
  return static_cast<size_t>(random.UniformInt(static_cast<int64_t>(std::max<size_t>(bound, 1))));
}

/// Words, numbers, texts in quotes, blanks, and every other character by itself.
std::vector<std::string> TokensOf(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::vector<std::string> tokens;
  while (!text.empty()) {
    size_t length = 1;
    if (is_word(text[0])) {
      while (length < text.size() && is_word(text[length])) ++length;
    } else if (text[0] == '"' || text[0] == '\'') {
      const size_t end = text.find(text[0], 1);
      if (end != std::string_view::npos && end < 200) length = end + 1;
    } else if (text[0] == ' ') {
      while (length < text.size() && text[length] == ' ') ++length;
    }
    tokens.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return tokens;
}

std::string Repeated(std::string_view piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

/// Longer inputs are not text, and taking them apart would take most of the time.
constexpr size_t kMaxTokenizedBytes = size_t{1} << 17;

/// Of a token that is made long.
constexpr size_t kMaxRepeatedBytes = size_t{1} << 20;

/// A length that is mostly small and sometimes beyond what a reader expects.
size_t AnyLength(base::RandomStream& random) {
  constexpr size_t kLengths[] = {1, 2, 3, 8, 50, 101, 300, 3000, 100000};
  return kLengths[Below(std::size(kLengths), random)];
}

std::string ChangeTokens(const std::string& text, const std::string& other,
                         base::RandomStream& random) {
  std::vector<std::string> tokens = TokensOf(text);
  if (tokens.empty()) return text;
  const size_t at = Below(tokens.size(), random);
  const size_t end = std::min(tokens.size(), at + 1 + Below(20, random));
  switch (random.UniformInt(8)) {
    case 0:
      tokens[at] = AnyPiece(random);
      break;
    case 1:
      tokens[at] += AnyPiece(random);
      break;
    case 2:
      std::swap(tokens[at], tokens[Below(tokens.size(), random)]);
      break;
    case 3:
      tokens.erase(tokens.begin() + static_cast<int64_t>(at),
                   tokens.begin() + static_cast<int64_t>(end));
      break;
    case 4: {  // a part, once more
      const std::vector<std::string> part(tokens.begin() + static_cast<int64_t>(at),
                                          tokens.begin() + static_cast<int64_t>(end));
      const size_t place = Below(tokens.size() + 1, random);
      tokens.insert(tokens.begin() + static_cast<int64_t>(place), part.begin(), part.end());
      break;
    }
    case 5: {  // from another input
      const std::vector<std::string> theirs = TokensOf(other);
      if (!theirs.empty()) tokens[at] = theirs[Below(theirs.size(), random)];
      break;
    }
    case 6: {  // deep
      const size_t depth = AnyLength(random);
      const bool is_list = random.UniformInt(2) == 0;
      tokens[at] = Repeated(is_list ? "[" : "{\"a\":", depth) + tokens[at] +
                   Repeated(is_list ? "]" : "}", depth);
      break;
    }
    default:  // long
      tokens[at] =
          Repeated(tokens[at], std::min(AnyLength(random), kMaxRepeatedBytes / tokens[at].size()));
      break;
  }
  std::string changed;
  for (const std::string& token : tokens) changed += token;
  return changed;
}

std::string ChangeBytes(std::string bytes, const std::string& other, base::RandomStream& random) {
  const size_t at = Below(bytes.size(), random);
  const size_t length = 1 + Below(32, random);
  if (bytes.empty()) return std::string(AnyPiece(random));
  switch (random.UniformInt(8)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.UniformInt(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.UniformInt(256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.insert(at, bytes.substr(Below(bytes.size(), random), length));
      break;
    case 5:
      bytes.insert(at, AnyPiece(random));
      break;
    case 6:
      bytes.replace(at, length, AnyPiece(random));
      break;
    default:  // the beginning of one, the end of another
      bytes = bytes.substr(0, at) + other.substr(Below(other.size(), random));
      break;
  }
  return bytes;
}

}  // namespace

std::string Mutate(std::span<const std::string> seeds, base::RandomStream& random) {
  std::string input = seeds[Below(seeds.size(), random)];
  const std::string& other = seeds[Below(seeds.size(), random)];
  for (int64_t change = 1 + random.UniformInt(4); change > 0; --change) {
    const bool keeps_frame = random.UniformInt(2) == 0;
    std::optional<std::string> structural;
    if (keeps_frame) structural = MutateStructure(input, random);
    if (structural) {
      input = *std::move(structural);
    } else if (keeps_frame && input.size() <= kMaxTokenizedBytes) {
      input = ChangeTokens(input, other, random);
    } else {
      input = ChangeBytes(std::move(input), other, random);
    }
  }
  return input;
}

}  // namespace bayloom::fuzz
