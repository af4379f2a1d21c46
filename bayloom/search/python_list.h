// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bayloom/base/result.h"

namespace bayloom::search {

/// An item of a Python list: a number (True and False are 1 and 0, as in Python) or a text.
using PythonItem = std::variant<double, std::string>;

/// Reads the expressions by which Kernel Tuner's files give values:
///
///     [16, 32, 48]      ["a", "b"]      [True, False]
///     [2**i for i in range(0, 6)]
///     [1, 2, 4] + list(range(32, 1024 + 1, 32))
///
/// An error names the column. At most 100,000 items.
Result<std::vector<PythonItem>> EvaluatePythonList(std::string_view text);

}  // namespace bayloom::search
