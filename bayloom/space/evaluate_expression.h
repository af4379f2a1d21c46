// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/space/value.h"

namespace bayloom::space {

/// What an expression is for these values of its names, a whole or other number, or a truth value
/// as 1 or 0. The language is that of known constraints: `rows * 16`, `min(depth, 64)`,
/// `1 if shared else 2`. A text can be compared with another, but is no number. Fails, pointing at
/// the column, for what is not in the language, and where there is no value (division by zero).
Result<double> EvaluateExpression(std::string_view text,
                                  const std::map<std::string, Value>& values);

}  // namespace bayloom::space
