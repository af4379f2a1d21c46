// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/base/single_line.h"

namespace bayloom::trial {
namespace {

using Json = nlohmann::json;

/// Longer lines hold no answer, and matching takes time and memory for every character.
constexpr size_t kMaxSearchedLineLength = 2000;

/// A compiled POSIX extended regular expression.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : code_(regcomp(&compiled_, text.c_str(), REG_EXTENDED)) {}
  ~Pattern() {
    if (code_ == 0) regfree(&compiled_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  Status Check() const {
    if (code_ != 0) {
      char problem[200];
      regerror(code_, &compiled_, problem, sizeof(problem));
      return Error{fmt::format("the pattern is no extended regular expression: {}", problem)};
    }
    if (compiled_.re_nsub > 0) return Ok();
    return Error{"the pattern has no group; write parentheses around the number"};
  }

  /// The text of the first group, where the line matches.
  std::optional<std::string_view> Search(std::string_view line) const {
    regmatch_t groups[2] = {{0, static_cast<regoff_t>(line.size())}, {-1, -1}};
    if (regexec(&compiled_, line.data(), 2, groups, REG_STARTEND) != 0) return std::nullopt;
    if (groups[1].rm_so < 0) return std::string_view();
    return line.substr(static_cast<size_t>(groups[1].rm_so),
                       static_cast<size_t>(groups[1].rm_eo - groups[1].rm_so));
  }

 private:
  regex_t compiled_;
  int code_;
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view LastLine(std::string_view text) {
  return Trimmed(text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n')));
}

/// "1.5", "+2e-3", "nan", "-inf": what C's printf writes for a number.
std::optional<double> NumberOf(std::string_view text) {
  if (text.size() > 1 && text.front() == '+') text.remove_prefix(1);
  double number = 0;
  const auto [used, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || used != text.data() + text.size()) return std::nullopt;
  return number;
}

Outcome Refused(std::string reason) {
  return Outcome::Infeasible(Verdict::kInvalidAnswer, std::move(reason));
}

Outcome Feasible(double value) {
  if (!std::isfinite(value)) return Refused(fmt::format("the value is {}", value));
  Outcome outcome;
  outcome.value = value;
  return outcome;
}

const Json* FindField(const Json& object, std::string_view path) {
  if (const auto whole = object.find(std::string(path)); whole != object.end()) return &*whole;
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto inner = object.find(std::string(path.substr(0, dot)));
  if (inner == object.end() || !inner->is_object()) return nullptr;
  return FindField(*inner, path.substr(dot + 1));
}

/// The number in a field, or why there is none.
Outcome NumberIn(const Json& object, const std::string& field) {
  const Json* value = FindField(object, field);
  if (value == nullptr) return Refused(fmt::format("the answer has no field '{}'", field));
  if (value->is_number()) return Feasible(value->get<double>());
  // JSON has no NaN; some write it as null or as text.
  return Refused(
      fmt::format("the field '{}' is {}", field,
                  base::SingleLine(value->dump(-1, ' ', false, Json::error_handler_t::replace))));
}

/// {"feasible": false, "reason": "...", "stage": "build"}, the last two as they are wanted.
Outcome InfeasibleOutcome(const Json& object) {
  const auto reason = object.find("reason");
  const bool is_told = reason != object.end() && reason->is_string();
  const std::string text = base::SingleLine(
      is_told ? reason->get<std::string>() : std::string("the evaluator says: infeasible"), 500);
  const auto stage = object.find("stage");
  const auto told = [&](Verdict verdict) {
    Outcome outcome = Outcome::Infeasible(verdict, text);
    outcome.is_told = true;
    return outcome;
  };
  if (stage == object.end()) return told(Verdict::kInvalidAnswer);
  if (*stage == "build") return told(Verdict::kBuildError);
  if (*stage == "run") return told(Verdict::kCrash);
  if (*stage == "check") return told(Verdict::kWrongOutput);
  return Refused("the stage is not one of build, run and check: " + text);
}

Outcome OutcomeOfObject(const Json& object, const AnswerFormat& format) {
  const auto feasible = object.find("feasible");
  if (feasible != object.end() && *feasible == Json(false)) return InfeasibleOutcome(object);
  Outcome outcome = NumberIn(object, format.fields[0]);
  for (size_t i = 1; i < format.fields.size() && outcome.ok(); ++i) {
    const Outcome named = NumberIn(object, format.fields[i]);
    if (!named.ok()) return named;
    outcome.Set(format.fields[i], named.value);
  }
  return outcome;
}

Outcome SearchPattern(std::string_view output, const std::string& text) {
  const Pattern pattern(text);
  std::optional<Outcome> found;
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (line.size() > kMaxSearchedLineLength) continue;
    const std::optional<std::string_view> group = pattern.Search(line);
    if (!group) continue;
    const std::optional<double> number = NumberOf(Trimmed(*group));
    found = number ? Feasible(*number)
                   : Refused(fmt::format("the pattern found '{}', which is no number",
                                         base::SingleLine(*group)));
  }
  return found ? *found : Refused("the pattern is nowhere in the output");
}

}  // namespace

Status CheckPattern(const std::string& pattern) {
  if (pattern.size() > 500) return Error{"the pattern is longer than 500 characters"};
  return Pattern(pattern).Check();
}

std::optional<Outcome> ParseAnswerLine(std::string_view line, const AnswerFormat& format) {
  const std::string_view text = Trimmed(line);
  if (const std::optional<double> number = NumberOf(text)) {
    if (format.fields.size() == 1) return Feasible(*number);
    return Refused(fmt::format(
        "the answer is one number; expected a JSON object with the fields '{}' and '{}'",
        format.fields[0], fmt::join(format.fields.begin() + 1, format.fields.end(), "', '")));
  }
  if (text.empty() || text.front() != '{') return std::nullopt;
  const Json json = base::ParseJsonOrDiscard(text);
  if (!json.is_object()) return std::nullopt;
  return OutcomeOfObject(json, format);
}

Outcome ParseAnswer(std::string_view output, const AnswerFormat& format) {
  if (!format.pattern.empty()) return SearchPattern(output, format.pattern);
  const std::string_view whole = Trimmed(output);
  if (whole.empty()) return Refused("nothing was printed");
  if (const auto outcome = ParseAnswerLine(whole, format)) return *outcome;
  const std::string_view last = LastLine(whole);
  if (const auto outcome = ParseAnswerLine(last, format)) return *outcome;
  return Refused(
      fmt::format("expected a number or a JSON object, found '{}'; 'answer: {{pattern: ...}}' "
                  "finds a number in other text",
                  base::SingleLine(last)));
}

}  // namespace bayloom::trial
