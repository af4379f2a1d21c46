// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/tensor_forms.h"

#include <cmath>

namespace bayloom::mapspace {

int64_t TensorForms::HomeWords(int64_t words, const StorageLevel& level) const {
  const int64_t kept = compressed ? compressed->OccupancyFor(words, fit_probability) : words;
  auto taken = std::ceil(static_cast<double>(kept) * word_share);
  if (!level.sparsity.HasMetadataStorage()) {
    taken += std::ceil(static_cast<double>(HomeMetadataBits(words)) / level.word_bits);
  }
  return static_cast<int64_t>(taken);
}

int64_t TensorForms::HomeMetadataBits(int64_t words) const {
  if (words == tile_words) return metadata_bits;
  return static_cast<int64_t>(
      std::ceil(static_cast<double>(metadata_bits) * static_cast<double>(words) /
                static_cast<double>(tile_words)));
}

}  // namespace bayloom::mapspace
