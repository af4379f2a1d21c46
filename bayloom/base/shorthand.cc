// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/base/shorthand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::base {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Shorthand::Shorthand(std::string_view subject, std::string_view line)
    : subject_(subject), line_(line), name_(line.substr(0, line.find(':'))) {
  const std::string_view list = line.substr(std::min(name_.size() + 1, line.size()));
  if (!list.empty()) arguments_ = Split(list, ',');
}

void Shorthand::Refuse(const std::string& reason) const {
  throw InputError(fmt::format("{} '{}': {}{}{}", subject_, SingleLine(line_, 200), reason,
                               example_.empty() ? "" : "; try ", example_));
}

std::string Shorthand::TakeNext(const std::string& what) {
  if (arguments_.empty()) Refuse("the " + what + " is missing");
  std::string next = std::move(arguments_.front());
  arguments_.erase(arguments_.begin());
  return next;
}

std::vector<int64_t> Shorthand::Numbers(const std::string& what, size_t count) {
  const std::string text = TakeNext(what);
  std::vector<int64_t> numbers = ParseNumbers(text, what, 1);
  if (numbers.size() != count) {
    Refuse(fmt::format("'{}' is no {}, which takes {} number{}", SingleLine(text), what, count,
                       count == 1 ? "" : "s joined by 'x'"));
  }
  return numbers;
}

std::array<int64_t, 2> Shorthand::Pair(const std::string& what) {
  return ParsePair(TakeNext(what), what, 1);
}

bool Shorthand::Flag(const std::string& name) { return std::erase(arguments_, name) > 0; }

std::string Shorthand::Option(const std::string& name, const std::string& default_value) {
  const std::string prefix = name + "=";
  const auto found = std::ranges::find_if(
      arguments_, [&](const std::string& argument) { return argument.starts_with(prefix); });
  if (found == arguments_.end()) return default_value;
  std::string value = found->substr(prefix.size());
  arguments_.erase(found);
  return value;
}

int64_t Shorthand::NumberOption(const std::string& name, int64_t default_value) {
  const std::string text = Option(name, std::to_string(default_value));
  const std::vector<int64_t> numbers = ParseNumbers(text, name, 1);
  if (numbers.size() != 1) {
    Refuse(fmt::format("{} takes one number, not '{}'", name, SingleLine(text)));
  }
  return numbers.front();
}

std::array<int64_t, 2> Shorthand::PairOption(const std::string& name, int64_t default_value) {
  return ParsePair(Option(name, std::to_string(default_value)), name,
                   std::min<int64_t>(default_value, 1));
}

void Shorthand::ExpectNoMore() const {
  if (arguments_.empty()) return;
  Refuse(fmt::format("'{}' is not understood", SingleLine(arguments_.front())));
}

std::vector<int64_t> Shorthand::ParseNumbers(const std::string& text, const std::string& what,
                                             int64_t least) const {
  std::vector<int64_t> numbers;
  for (const std::string& part : Split(text, 'x')) {
    int64_t number = 0;
    const char* end = part.data() + part.size();
    const auto [used, error] = std::from_chars(part.data(), end, number);
    if (error != std::errc() || used != end || number < least || number > kMaxNumber) {
      Refuse(fmt::format("'{}' is no {}: numbers from {} to {} are", SingleLine(text), what, least,
                         kMaxNumber));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::array<int64_t, 2> Shorthand::ParsePair(const std::string& text, const std::string& what,
                                            int64_t least) const {
  const std::vector<int64_t> numbers = ParseNumbers(text, what, least);
  if (numbers.size() > 2) {
    Refuse(fmt::format("{} takes one or two numbers, not '{}'", what, SingleLine(text)));
  }
  return {numbers.front(), numbers.back()};
}

}  // namespace bayloom::base
