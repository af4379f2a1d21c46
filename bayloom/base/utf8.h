// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string_view>

namespace bayloom::base {

/// Bytes of the UTF-8 character that non-empty `text` begins with; 0 where it begins with none
/// (a stray or missing byte, an overlong form, a surrogate, a number above U+10FFFF).
size_t Utf8CharacterLength(std::string_view text);

/// The number of the character that `text` begins with; Utf8CharacterLength must not be 0.
char32_t Utf8Character(std::string_view text);

bool IsUtf8(std::string_view text);

/// Characters of UTF-8 text: the columns it takes, but for those of double and of no width.
size_t CountUtf8Characters(std::string_view text);

}  // namespace bayloom::base
