// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bayloom::base {

/// Text from a file or a program made fit for a one-line message: control characters become
/// spaces, bytes that are not UTF-8 question marks, and what is longer than `max_bytes` is cut.
std::string InOneLine(std::string_view text, size_t max_bytes = 80);

}  // namespace bayloom::base
