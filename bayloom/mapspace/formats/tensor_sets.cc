// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/formats/tensor_sets.h"

#include <fmt/format.h>

#include <cctype>

namespace bayloom::mapspace {
namespace {

bool IsOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

class TensorSetParser {
 public:
  TensorSetParser(const yaml::YamlValue& value, const std::map<std::string, TensorSet>& memories)
      : value_(value), memories_(memories), text_(value.Text()) {}

  TensorSet Parse() {
    const TensorSet set = Sum(0);
    Skip();
    if (at_ < text_.size()) Fail();
    return set;
  }

 private:
  /// Operators from left to right, `&` before the others.
  TensorSet Sum(int depth) {
    TensorSet set = Product(depth);
    while (true) {
      if (Take('|')) {
        set |= Product(depth);
      } else if (Take('-')) {
        set &= ~Product(depth);
      } else {
        return set;
      }
    }
  }

  TensorSet Product(int depth) {
    TensorSet set = Operand(depth);
    while (Take('&')) set &= Operand(depth);
    return set;
  }

  TensorSet Operand(int depth) {
    constexpr int kDeepest = 30;
    if (depth > kDeepest) Fail();
    if (Take('~')) return kAllTensors & ~Operand(depth + 1);
    if (Take('(')) {
      const TensorSet set = Sum(depth + 1);
      if (!Take(')')) Fail();
      return set;
    }
    Skip();
    const size_t begin = at_;
    while (at_ < text_.size() && IsOfName(text_[at_])) ++at_;
    std::string name = text_.substr(begin, at_ - begin);
    if (name.ends_with(".tensors")) name.resize(name.size() - std::string(".tensors").size());
    if (const auto memory = memories_.find(name); memory != memories_.end()) return memory->second;
    if (name == "Nothing" || name == "Intermediates") return kNoTensor;
    const TensorSet set = RoleNamed(name);
    if (set == kNoTensor) Fail();
    return set;
  }

  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void Fail() const {
    value_.Fail(
        fmt::format("'{}' is no set of input, weight, output, All, Nothing, Intermediates "
                    "and memories outside, of which ~, &, | and - make others",
                    text_));
  }

  const yaml::YamlValue& value_;
  const std::map<std::string, TensorSet>& memories_;
  std::string text_;
  size_t at_ = 0;
};

}  // namespace

TensorSet RoleNamed(std::string_view name) {
  if (name == "input") return 1;
  if (name == "weight") return 2;
  if (name == "Inputs") return 3;  // all that is read
  if (name == "output" || name == "Outputs") return 4;
  return name == "All" ? kAllTensors : kNoTensor;
}

TensorSet ParseTensorSet(const yaml::YamlValue& value,
                         const std::map<std::string, TensorSet>& memories) {
  return TensorSetParser(value, memories).Parse();
}

}  // namespace bayloom::mapspace
