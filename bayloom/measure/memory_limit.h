// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::measure {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kAddressSpaceCanBeLimited = false;  // sanitizers map terabytes
#else
constexpr bool kAddressSpaceCanBeLimited = true;
#endif

/// Bytes of address space for a process that compiles or runs candidates: three quarters of the
/// machine's memory, or this process's hard limit (`ulimit -Hv`) where that is less.
int64_t DefaultMemoryLimit();

}  // namespace bayloom::measure
