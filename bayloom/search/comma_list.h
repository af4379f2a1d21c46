// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bayloom::search {

/// Without the blanks around it.
std::string Trimmed(std::string_view text);

/// The parts between commas that are not within parentheses or brackets, trimmed.
std::vector<std::string> SplitAtCommas(std::string_view text);

}  // namespace bayloom::search
