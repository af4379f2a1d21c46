// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/internal/checks.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

namespace bayloom::record {

Status CheckTarget(const target::Target& target) {
  constexpr int kMaxCores = 1 << 16, kMaxVectorBytes = 1 << 12;
  constexpr int64_t kMaxCacheBytes = int64_t{1} << 40;
  const auto refuse = [&](const char* what, int64_t number) -> Status {
    return Error{fmt::format("a target cannot have {} of {}", what, number)};
  };
  if (target.cores < 1 || target.cores > kMaxCores)
    return refuse("a number of threads", target.cores);
  const bool has_vectors = target.vector_bytes >= 4 && target.vector_bytes <= kMaxVectorBytes &&
                           std::has_single_bit(static_cast<unsigned>(target.vector_bytes));
  if (!has_vectors) return refuse("a vector size in bytes", target.vector_bytes);
  for (const int64_t bytes : {target.l1_bytes, target.l2_bytes}) {
    if (bytes < 1 || bytes > kMaxCacheBytes) return refuse("a cache size in bytes", bytes);
  }
  return Ok();
}

}  // namespace bayloom::record
