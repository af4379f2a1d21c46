// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/mapspace/sparse/access_form.h"
#include "bayloom/mapspace/sparse/density_model.h"

namespace bayloom::mapspace {

/// How a tensor is moved between the outermost and a home level, and how it takes the home level's
/// capacity, where zeros are left out or words have a width of their own; by default as plain
/// words.
struct TensorForms {
  AccessForm outside;  ///< of the outermost level: reads, or updates of outputs
  AccessForm home;     ///< of the home level: fills, which stand for reading outputs back as well
  /// Of a tensor that is compressed at home, and the share of its tiles that have to fit.
  std::optional<DensityModel> compressed = {};
  double fit_probability = 1;
  double word_share = 1;
  /// What a tile of `tile_words` words takes of metadata.
  int64_t tile_words = 1;
  int64_t metadata_bits = 0;

  /// Words of the home level that `words` of the tensor take, and bits of metadata, which are
  /// among the words unless the level has a memory for them.
  int64_t HomeWords(int64_t words, const StorageLevel& level) const;
  int64_t HomeMetadataBits(int64_t words) const;
};

/// Of every tensor of a problem.
using TileForms = std::array<TensorForms, kMaxTensors>;

}  // namespace bayloom::mapspace
