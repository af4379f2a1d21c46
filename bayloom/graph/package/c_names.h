// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bayloom::graph {

/// Why a package cannot have this name; nullopt if it can. What a package declares begins with its
/// name and an underscore, and its files are NAME.h and libNAME.so: a name is made of letters,
/// digits and single underscores, begins with a letter, and stands in the way of no function,
/// header or library of the system.
std::optional<std::string> WhyNotAPackageName(std::string_view name);

/// Text as part of a C comment: what would end it, begin another, or disturb the line is written
/// as "\x2a".
std::string InComment(std::string_view text);

}  // namespace bayloom::graph
