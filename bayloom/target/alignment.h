// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace bayloom::target {

/// Bytes that buffers and workspaces are aligned to: the longest vector register, and a cache line,
/// of the processors that code is made for.
constexpr int64_t kBufferAlignment = 64;

/// The bytes of a buffer and what is between it and one that directly follows.
constexpr int64_t AlignUp(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

}  // namespace bayloom::target
