// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/optimization.h"

#include <algorithm>

namespace bayloom::mapspace {

bool TensorFormat::IsCompressed() const {
  return std::ranges::any_of(ranks, [](const RankSpec& rank) {
    return rank.format != RankFormat::kUncompressedBitmask &&
           rank.format != RankFormat::kOffsetPair;
  });
}

const char* ToString(RankFormat format) {
  constexpr const char* kNames[] = {"UB", "B", "RLE", "CP", "UOP"};
  return kNames[static_cast<int>(format)];
}

}  // namespace bayloom::mapspace
