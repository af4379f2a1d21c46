// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "bayloom/base/text_limits.h"

namespace bayloom::base {

struct Line {
  std::string text;  ///< without the line's end
  /// False for the last line of a stream that ends within it: its writer may have died.
  bool is_whole = true;
};

/// The next line; nullopt at the end. Throws InputError for one of more than `max_bytes`.
std::optional<Line> ReadLine(std::istream& in, size_t max_bytes = kMaxLineBytes);

}  // namespace bayloom::base
