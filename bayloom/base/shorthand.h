// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::base {

/// A line of the form `name:arguments`, such as
///
///     conv2d:56x56x64,128,3x3,stride=2,pad=1,relu
///
/// Arguments are separated by commas: first positional ones, numbers joined by 'x', then options
/// `name=value` and flags in any order. The reader takes them out one by one, in the order of the
/// positional ones, and says at last that it expects no more. What does not fit throws an
/// InputError that names the argument and shows a line that works.
class Shorthand {
 public:
  /// The largest number that may be given.
  static constexpr int64_t kMaxNumber = int64_t{1} << 24;

  /// `subject` is what messages call the line: "operator". The line has to outlive this.
  Shorthand(std::string_view subject, std::string_view line);

  std::string_view name() const { return name_; }
  /// A line that works, for messages.
  void SetExample(std::string_view example) { example_ = example; }
  [[noreturn]] void Refuse(const std::string& reason) const;

  /// The next positional argument, `count` numbers of at least 1.
  std::vector<int64_t> Numbers(const std::string& what, size_t count);
  int64_t Number(const std::string& what) { return Numbers(what, 1).front(); }
  /// The next positional argument as rows and columns; one number stands for both.
  std::array<int64_t, 2> Pair(const std::string& what);

  bool Flag(const std::string& name);
  std::string Option(const std::string& name, const std::string& default_value);
  /// At least 1.
  int64_t NumberOption(const std::string& name, int64_t default_value);
  /// Rows and columns, or one number for both; at least 1, or 0 where that is the default.
  std::array<int64_t, 2> PairOption(const std::string& name, int64_t default_value);

  void ExpectNoMore() const;

 private:
  std::string TakeNext(const std::string& what);
  std::vector<int64_t> ParseNumbers(const std::string& text, const std::string& what,
                                    int64_t least) const;
  std::array<int64_t, 2> ParsePair(const std::string& text, const std::string& what,
                                   int64_t least) const;

  std::string_view subject_;
  std::string_view line_;
  std::string_view name_;
  std::string_view example_;
  std::vector<std::string> arguments_;
};

}  // namespace bayloom::base
