// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bayloom::base {

/// Text from a file, a database or a program made fit to be printed: one line that no terminal
/// takes for a command, in UTF-8. Control characters, and characters that change how those around
/// them are shown, become escapes ("\n", "\x1b", "\u202e"), as do bytes that are not UTF-8
/// ("\xff"). What is longer than `max_bytes` is cut between characters and ends with "...".
/// What it returns stays the same if it is given to it again.
std::string SingleLine(std::string_view text, size_t max_bytes = 80);

/// The same for a message with such parts in it: what is longer than `max_bytes` loses its middle,
/// as a message begins with the place and ends with the reason.
std::string MessageInOneLine(std::string_view message, size_t max_bytes = 1000);

}  // namespace bayloom::base
