// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/nonzeros.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "bayloom/base/file.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"

namespace bayloom::mapspace {
namespace {

/// Of a file of nonzeros: 8-byte words of the largest tensor, or its coordinates.
constexpr size_t kMaxFileBytes = size_t{1} << 30;

Nonzeros Zeros(const std::vector<int64_t>& lengths) {
  double words = 1;
  for (const int64_t length : lengths) words *= static_cast<double>(length);
  if (words > static_cast<double>(kMaxKnownWords)) {
    throw InputError(
        fmt::format("a tensor of {} is too large to know where its nonzeros are: {} "
                    "words are possible",
                    fmt::join(lengths, "x"), kMaxKnownWords));
  }
  return {
      .lengths = lengths, .flags = std::vector<uint8_t>(static_cast<size_t>(words), 0), .count = 0};
}

void Count(Nonzeros& nonzeros) { nonzeros.count = std::ranges::count(nonzeros.flags, uint8_t{1}); }

std::vector<int64_t> WithoutOnes(std::vector<int64_t> lengths) {
  std::erase(lengths, 1);
  return lengths;
}

/// Reads one file; its name is in all messages.
class NonzerosReader {
 public:
  NonzerosReader(const std::string& file, const std::vector<int64_t>& lengths)
      : file_(file), nonzeros_(Zeros(lengths)), text_(base::ReadFile(file, kMaxFileBytes)) {}

  Nonzeros Read() {
    if (file_.ends_with(".npy")) {
      ReadArray();
    } else if (file_.ends_with(".mtx")) {
      ReadMatrix();
    } else if (file_.ends_with(".tns")) {
      ReadCoordinates(text_, nonzeros_.lengths, Entries::kWithValue, false);
    } else {
      ReadMask();
    }
    Count(nonzeros_);
    if (nonzeros_.count == 0) Fail("no word of the tensor is not zero");
    return std::move(nonzeros_);
  }

 private:
  enum class Entries : uint8_t { kWithValue, kPattern };

  [[noreturn]] void Fail(const std::string& message) const {
    throw InputError(fmt::format("{}: {}", file_, message));
  }

  /// Sets the word whose number with the first axis fastest is `index`.
  void SetFirstFastest(int64_t index) {
    int64_t at = 0, stride = nonzeros_.Words();
    for (const int64_t length : nonzeros_.lengths) {
      stride /= length;
      at += index % length * stride;
      index /= length;
    }
    nonzeros_.flags[at] = 1;
  }

  void ReadMask() {
    int64_t index = 0;
    for (const char c : text_) {
      if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
      if (c != '0' && c != '1') {
        Fail("expected 0 and 1 for every word; other files are .npy, .mtx and .tns");
      }
      if (index < nonzeros_.Words() && c == '1') SetFirstFastest(index);
      ++index;
    }
    if (index != nonzeros_.Words()) {
      Fail(fmt::format("has {} words, the tensor {} ({})", index, nonzeros_.Words(),
                       fmt::join(nonzeros_.lengths, "x")));
    }
  }

  void CheckShape(const std::vector<int64_t>& shape) const {
    if (WithoutOnes(shape) == WithoutOnes(nonzeros_.lengths)) return;
    Fail(fmt::format("is of {}, the tensor of {}", fmt::join(shape, "x"),
                     fmt::join(nonzeros_.lengths, "x")));
  }

  /// The text of a key of the header of an array: {'descr': '<f4', 'fortran_order': False, ...}.
  std::string_view HeaderEntry(std::string_view header, std::string_view key) const {
    const size_t at = header.find(fmt::format("'{}'", key));
    const size_t colon = at == std::string_view::npos ? at : header.find(':', at);
    if (colon == std::string_view::npos) Fail("is no array of NumPy");
    header.remove_prefix(colon + 1);
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    return header;
  }

  std::vector<int64_t> ShapeOf(std::string_view text) const {
    if (!text.starts_with('(')) Fail("is no array of NumPy");
    text = text.substr(1, text.find(')') - 1);
    std::vector<int64_t> shape;
    for (size_t i = 0; i < text.size(); ++i) {
      int64_t length = 0;
      const auto [end, error] = std::from_chars(&text[i], text.data() + text.size(), length);
      if (error != std::errc()) continue;
      shape.push_back(length);
      i = static_cast<size_t>(end - text.data()) - 1;
    }
    return shape;
  }

  void ReadArray() {
    constexpr std::string_view kMagic = "\x93NUMPY";
    const std::string_view text = text_;
    if (!text.starts_with(kMagic) || text.size() < 12) Fail("is no array of NumPy");
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(text[i])); };
    const bool is_long = byte(6) >= 2;
    const size_t begin = is_long ? 12 : 10;
    const size_t length =
        byte(8) + (byte(9) << 8) + (is_long ? (byte(10) << 16) + (byte(11) << 24) : size_t{0});
    if (length > text.size() - begin) Fail("is no array of NumPy");
    const std::string_view header = text.substr(begin, length);
    const std::string_view type = HeaderEntry(header, "descr");
    const bool first_fastest = HeaderEntry(header, "fortran_order").starts_with("True");
    CheckShape(ShapeOf(HeaderEntry(header, "shape")));
    // '<f4': byte order, kind, bytes.
    if (type.size() < 4 || type[0] != '\'' || std::strchr("<|=>", type[1]) == nullptr ||
        std::strchr("biuf", type[2]) == nullptr) {
      Fail("is no array of numbers or truth values");
    }
    const int width = type[3] - '0';
    if (width != 1 && width != 2 && width != 4 && width != 8) Fail("has numbers of unknown width");
    const std::string_view data = text.substr(begin + length);
    if (std::ssize(data) != nonzeros_.Words() * width) Fail("ends too early, or too late");
    // -0 is a zero, too.
    const bool has_sign = type[2] == 'f';
    const int sign_byte = type[1] == '>' ? 0 : width - 1;
    for (int64_t i = 0; i < nonzeros_.Words(); ++i) {
      bool is_set = false;
      for (int b = 0; b < width; ++b) {
        auto value = static_cast<uint8_t>(data[i * width + b]);
        if (has_sign && b == sign_byte) value &= 0x7f;
        is_set |= value != 0;
      }
      if (!is_set) continue;
      if (first_fastest) {
        SetFirstFastest(i);
      } else {
        nonzeros_.flags[i] = 1;
      }
    }
  }

  /// Takes the first word off the line; nothing if there is none.
  static std::string_view TakeWord(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r,"), line.size()));
    const size_t end = std::min(line.find_first_of(" \t\r,"), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
  }

  static std::optional<int64_t> TakeInteger(std::string_view& line) {
    const std::string_view word = TakeWord(line);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool is_whole = error == std::errc() && end == word.data() + word.size();
    return is_whole && !word.empty() ? std::optional(value) : std::nullopt;
  }

  /// The next line that is neither empty nor a comment; whether there is one.
  static bool TakeLine(std::string_view& text, std::string_view& line) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      const size_t first = line.find_first_not_of(" \t\r");
      if (first != std::string_view::npos && line[first] != '#' && line[first] != '%') return true;
    }
    return false;
  }

  /// Lines of coordinates along `lengths`, which are those of the tensor but for axes of one word.
  void ReadCoordinates(std::string_view text, const std::vector<int64_t>& lengths, Entries entries,
                       bool is_symmetric) {
    std::string_view line;
    std::vector<int64_t> at(lengths.size());
    while (TakeLine(text, line)) {
      const std::string shown(line.substr(0, 80));
      for (size_t a = 0; a < lengths.size(); ++a) {
        const auto coordinate = TakeInteger(line);
        if (!coordinate || *coordinate < 1 || *coordinate > lengths[a]) {
          Fail(
              fmt::format("'{}' are no coordinates from 1 to {}", shown, fmt::join(lengths, ", ")));
        }
        at[a] = *coordinate - 1;
      }
      if (entries == Entries::kWithValue) {
        const std::string_view word = TakeWord(line);
        double value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        if (word.empty() || end != word.data() + word.size() ||
            (error != std::errc() && error != std::errc::result_out_of_range)) {
          Fail(fmt::format("'{}' are not {} coordinates and a number", shown, lengths.size()));
        }
        if (error == std::errc() && value == 0) continue;
      }
      Set(at, lengths);
      if (is_symmetric) Set({at[1], at[0]}, lengths);
    }
  }

  void Set(const std::vector<int64_t>& at, const std::vector<int64_t>& lengths) {
    int64_t index = 0;
    for (size_t a = 0; a < lengths.size(); ++a) index = index * lengths[a] + at[a];
    nonzeros_.flags[index] = 1;
  }

  void ReadMatrix() {
    std::string_view text = text_;
    std::string first(text.substr(0, text.find('\n')));
    std::ranges::transform(first, first.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string_view rest = first;
    if (TakeWord(rest) != "%%matrixmarket" || TakeWord(rest) != "matrix" ||
        TakeWord(rest) != "coordinate") {
      Fail("is no matrix in coordinates of Matrix Market");
    }
    const std::string_view field = TakeWord(rest);
    if (field == "complex") Fail("complex matrices are not known here");
    const bool is_general = TakeWord(rest) == "general";
    std::string_view line;
    std::vector<int64_t> shape;
    if (TakeLine(text, line)) {
      for (int i = 0; i < 2; ++i) shape.push_back(TakeInteger(line).value_or(0));
    }
    CheckShape(shape);
    if (!is_general && shape[0] != shape[1]) Fail("is symmetric, but not square");
    ReadCoordinates(text, shape, field == "pattern" ? Entries::kPattern : Entries::kWithValue,
                    !is_general);
  }

  std::string file_;
  Nonzeros nonzeros_;
  std::string text_;
};

}  // namespace

Nonzeros BandOf(const std::vector<int64_t>& lengths, int64_t width) {
  const std::vector<int64_t> sides = WithoutOnes(lengths);
  if (sides.size() != 2) {
    throw InputError(
        fmt::format("a tensor of {} has no band: it is no matrix", fmt::join(lengths, "x")));
  }
  Nonzeros nonzeros = Zeros(lengths);
  for (int64_t i = 0; i < sides[0]; ++i) {
    const int64_t end = std::min(sides[1], i + width + 1);
    for (int64_t j = std::max<int64_t>(0, i - width); j < end; ++j) {
      nonzeros.flags[i * sides[1] + j] = 1;
    }
  }
  Count(nonzeros);
  return nonzeros;
}

Nonzeros ReadNonzeros(const std::string& file, const std::vector<int64_t>& lengths) {
  return NonzerosReader(file, lengths).Read();
}

uint64_t DigestOf(const Nonzeros& nonzeros) {
  base::Hasher hasher;
  for (const int64_t length : nonzeros.lengths) hasher.Add(static_cast<uint64_t>(length));
  const auto* bytes = reinterpret_cast<const char*>(nonzeros.flags.data());
  return hasher.Add(std::string_view(bytes, nonzeros.flags.size())).Digest();
}

}  // namespace bayloom::mapspace
