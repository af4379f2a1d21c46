// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/trial/outcome.h"

namespace bayloom::record {

/// Named values as the text of a JSON object, numbers in the shortest form that reads back the
/// same; empty if there are none. A value that is not finite is left out.
std::string DetailsToText(const std::vector<trial::NamedValue>& values);
/// The inverse, in order of names; nullopt if the text is not of that form.
std::optional<std::vector<trial::NamedValue>> DetailsFromText(std::string_view text);

/// A number as JSON in the shortest form that reads back the same; empty if it is not finite.
std::string ExactText(double number);

}  // namespace bayloom::record
