// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::measure {

/// Bytes that this process has allocated and not freed, as its allocator counts them.
int64_t HeapBytes();

}  // namespace bayloom::measure
