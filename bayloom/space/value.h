// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bayloom::space {

/// A parameter's value as people see it:
///
///     real            double
///     integer         int64_t
///     ordinal         int64_t if all its values are whole numbers, double, or std::string
///     categorical     std::string (truth values and numbers as their text)
///     permutation     std::vector<int64_t>: the items in their new order, numbered from 0
///     factorization   std::vector<int64_t>: the factors, outermost first
using Value = std::variant<double, int64_t, std::string, std::vector<int64_t>>;

/// "0.5", "16", "row", "[2, 0, 1]". Reads back exactly.
std::string ToString(const Value& value);

/// The finite number a whole text spells; `True` and `false` in any of their usual spellings are 1
/// and 0. False if it spells none.
bool ParseNumber(std::string_view text, double& number);

}  // namespace bayloom::space
