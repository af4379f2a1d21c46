// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

namespace bayloom::base {

/// The one of `words` that differs least from `word`, if by little enough to be a slip of the
/// finger; else empty.
std::string_view ClosestMatch(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace bayloom::base
