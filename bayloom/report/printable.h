// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bayloom::report {

/// JSON as it is printed, indented: valid and without control characters for all texts it may hold.
/// Bytes of them that are not UTF-8 become U+FFFD.
std::string JsonText(const nlohmann::json& json);

/// Text of several lines, such as a program with names from a file, each line as base::SingleLine
/// has it but not cut.
std::string InLines(std::string_view text);

}  // namespace bayloom::report
