// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// Seconds of a duration as people write it: "90", "500ms", "90s", "10m", "1.5h", "1h30m". Never
/// negative, always finite.
Result<double> ParseDuration(std::string_view text);

/// The same; throws InputError, beginning with `name`, for anything else.
double ParseDuration(std::string_view text, const std::string& name);

}  // namespace bayloom::base
