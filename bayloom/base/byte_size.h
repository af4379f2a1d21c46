// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "bayloom/base/result.h"

namespace bayloom::base {

/// Bytes of a size as people write it: "65536", "400k", "1.5MB" (powers of 1000), "512KiB", "4GiB"
/// (of 1024). At least one, at most 10^18.
Result<int64_t> ParseByteSize(std::string_view text);

}  // namespace bayloom::base
