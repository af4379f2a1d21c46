// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// Bytes as text (RFC 4648, section 4, with padding).
std::string ToBase64(std::string_view bytes);
Result<std::string> FromBase64(std::string_view text);

}  // namespace bayloom::base
