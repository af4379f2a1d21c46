// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::trial {

/// Where in a program's output the values are.
struct AnswerFormat {
  /// Fields of a JSON answer that must hold numbers, dots lead into objects: "time.median". The
  /// first is the value, others become named values of the outcome. Of several fields, a number
  /// alone is no answer.
  std::vector<std::string> fields = {"value"};
  /// POSIX extended regular expression whose first group is the number, matched line by line; the
  /// last match counts. Empty: the output is a number or JSON.
  std::string pattern;
};

/// Refuses a pattern that cannot be used, saying why.
Status CheckPattern(const std::string& pattern);

/// What a program answered, as the person who wrote it meant it:
///
///     3.25                                     a number: the value
///     {"seconds": 3.25}                        an object: its field is the value
///     {"feasible": false, "reason": "..."}     no value, and why; "stage": "build", "run" or
///                                              "check" says where it failed
///
/// The output as a whole is such an answer, or its last line that is not blank. Anything else
/// (nothing, words, NaN, infinity) is an infeasible outcome with its reason. The value is as
/// printed: whether small or large is good is not known here.
Outcome ParseAnswer(std::string_view output, const AnswerFormat& format);

/// The same for one line of a conversation; nullopt where it is neither a number nor a JSON object.
std::optional<Outcome> ParseAnswerLine(std::string_view line, const AnswerFormat& format);

}  // namespace bayloom::trial
