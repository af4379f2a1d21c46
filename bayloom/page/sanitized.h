// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace bayloom::page {

/// Text of strangers (names of models, tasks and parameters, reasons) as a document has it: one
/// line of UTF-8 without control characters, not too long. What shows it need only escape what its
/// own format reserves.
std::string Sanitized(std::string_view text);
/// The same of a text of several lines.
std::string SanitizedLines(std::string_view text);
/// A number, or null where it is not finite.
nlohmann::json Finite(double value);

}  // namespace bayloom::page
