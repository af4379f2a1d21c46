// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/python_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

namespace bayloom::search {
namespace {

constexpr size_t kMaxItems = 100000;
constexpr int kMaxDepth = 50;

/// A recursive descent over the text. Throws std::runtime_error with the column.
class PythonListReader {
 public:
  explicit PythonListReader(std::string_view text) : text_(text) {}

  std::vector<PythonItem> ReadAll() {
    std::vector<PythonItem> items = Sum();
    SkipBlanks();
    if (at_ != text_.size()) Fail("expected the end");
    return items;
  }

 private:
  [[noreturn]] void Fail(std::string_view message) const {
    throw std::runtime_error(fmt::format("{} at column {}", message, at_ + 1));
  }

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool Take(std::string_view symbol) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void Expect(std::string_view symbol) {
    if (!Take(symbol)) Fail(fmt::format("expected '{}'", symbol));
  }
  static bool IsLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  /// The word that begins here, without taking it.
  std::string_view Word() {
    SkipBlanks();
    size_t end = at_;
    if (end < text_.size() && IsLetter(text_[end])) {
      while (end < text_.size() && (IsLetter(text_[end]) || IsDigit(text_[end]))) ++end;
    }
    return text_.substr(at_, end - at_);
  }
  bool TakeWord(std::string_view word) {
    if (Word() != word) return false;
    at_ += word.size();
    return true;
  }

  std::vector<PythonItem> Sum() {
    std::vector<PythonItem> items = List();
    while (Take("+")) {
      for (PythonItem& item : List()) items.push_back(std::move(item));
      CheckCount(items.size());
    }
    return items;
  }
  void CheckCount(size_t count) const {
    if (count > kMaxItems) Fail("more than 100000 values");
  }

  std::vector<PythonItem> List() {
    const Depth depth(*this);
    if (TakeWord("list")) {
      Expect("(");
      std::vector<PythonItem> items = Sum();
      Expect(")");
      return items;
    }
    if (Word() == "range") return Numbers(Range());
    const std::string_view close = Take("[") ? "]" : Take("(") ? ")" : "";
    if (close.empty()) Fail("expected a list");
    return Items(close);
  }

  std::vector<PythonItem> Items(std::string_view close) {
    std::vector<PythonItem> items;
    const size_t first = at_;
    while (!Take(close)) {
      items.push_back(Item());
      CheckCount(items.size());
      if (items.size() == 1 && Word() == "for") return Comprehension(first, close);
      if (!Take(",")) {
        Expect(close);
        break;
      }
    }
    return items;
  }

  /// `EXPRESSION for NAME in range(...)]`; the expression begins at `first`.
  std::vector<PythonItem> Comprehension(size_t first, std::string_view close) {
    TakeWord("for");
    variable_ = std::string(Word());
    at_ += variable_.size();
    if (variable_.empty()) Fail("expected a name");
    if (!TakeWord("in")) Fail("expected 'in'");
    const std::vector<double> values = Range();
    Expect(close);
    const size_t end = at_;
    std::vector<PythonItem> items;
    for (const double value : values) {
      value_ = value;
      at_ = first;
      items.push_back(Item());
    }
    at_ = end;
    variable_.clear();
    return items;
  }

  std::vector<double> Range() {
    if (!TakeWord("range")) Fail("expected range(...)");
    Expect("(");
    std::vector<double> bounds = {Whole()};
    while (bounds.size() < 3 && Take(",")) bounds.push_back(Whole());
    Expect(")");
    const double first = bounds.size() > 1 ? bounds[0] : 0;
    const double last = bounds.size() > 1 ? bounds[1] : bounds[0];
    const double step = bounds.size() > 2 ? bounds[2] : 1;
    if (step == 0) Fail("a step of zero");
    std::vector<double> values;
    for (double value = first; step > 0 ? value < last : value > last; value += step) {
      values.push_back(value);
      CheckCount(values.size());
    }
    return values;
  }
  double Whole() {
    const double number = Number();
    if (number != std::trunc(number) || std::abs(number) > 1e15) Fail("expected a whole number");
    return number;
  }
  static std::vector<PythonItem> Numbers(const std::vector<double>& numbers) {
    return {numbers.begin(), numbers.end()};
  }

  PythonItem Item() {
    SkipBlanks();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const size_t end = text_.find(text_[at_], at_ + 1);
      if (end == std::string_view::npos) Fail("a text that never ends");
      std::string text(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return text;
    }
    return Number();
  }

  double Number() {
    const Depth depth(*this);
    double sum = Product();
    while (true) {
      if (Take("+")) {
        sum += Product();
      } else if (Take("-")) {
        sum -= Product();
      } else {
        return Finite(sum);
      }
    }
  }
  double Product() {
    double product = Power();
    while (true) {
      if (Take("//")) {
        product = std::floor(product / Divisor());
      } else if (Take("*")) {
        product *= Power();
      } else if (Take("/")) {
        product /= Divisor();
      } else if (Take("%")) {
        const double divisor = Divisor();
        product -= divisor * std::floor(product / divisor);
      } else {
        return product;
      }
    }
  }
  double Divisor() {
    const double divisor = Power();
    if (divisor == 0) Fail("a division by zero");
    return divisor;
  }
  double Power() {
    const Depth depth(*this);
    if (Take("-")) return -Power();
    const double base = Atom();
    return Take("**") ? std::pow(base, Power()) : base;
  }
  double Atom() {
    if (Take("(")) {
      const double number = Number();
      Expect(")");
      return number;
    }
    if (TakeWord("True")) return 1;
    if (TakeWord("False")) return 0;
    const std::string_view word = Word();
    if (!word.empty()) return Variable(word);
    double number = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) Fail("expected a number");
    at_ = static_cast<size_t>(end - text_.data());
    return number;
  }
  double Variable(std::string_view name) {
    // While a comprehension's name is still unknown, any name will do.
    if (!variable_.empty() && name != variable_) Fail(fmt::format("'{}' is not known", name));
    at_ += name.size();
    if (variable_.empty()) {
      if (text_.find(" for ", at_) == std::string_view::npos) Fail("expected a number");
      return 1.5;
    }
    return value_;
  }
  double Finite(double number) const {
    if (!std::isfinite(number)) Fail("a number out of range");
    return number;
  }

  /// Refuses what is nested so deep that reading it would use up the stack.
  class Depth {
   public:
    explicit Depth(PythonListReader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxDepth) reader_.Fail("too many parentheses");
    }
    ~Depth() { --reader_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    PythonListReader& reader_;
  };

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string variable_;  ///< of the comprehension being evaluated
  double value_ = 0;
};

}  // namespace

Result<std::vector<PythonItem>> EvaluatePythonList(std::string_view text) {
  try {
    return PythonListReader(text).ReadAll();
  } catch (const std::runtime_error& error) {
    return Error{error.what()};
  }
}

}  // namespace bayloom::search
