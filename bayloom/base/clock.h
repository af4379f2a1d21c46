// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::base {

/// Seconds on a clock that never jumps; only differences mean anything.
double MonotonicSeconds();

/// Microseconds since the Unix epoch, UTC: what records are stamped with.
int64_t UnixMicroseconds();

}  // namespace bayloom::base
