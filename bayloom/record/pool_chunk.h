// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/feature/program_features.h"

namespace bayloom::record {

/// A program of a pool: enough to make it again, and what a cost model sees of it.
struct PoolProgram {
  uint64_t hash = 0;   ///< structural
  int space = 0;       ///< index of the task's design space
  std::string origin;  ///< how it was found: "random", "evolved", "recorded"
  std::string trace;   ///< JSON
  feature::FeatureMatrix features;
};

/// The programs of a chunk as compressed bytes, features apart from the rest as most readers need
/// either. Features lie column by column: most columns hardly vary among the programs of one task,
/// as do their traces, so that both shrink to a small part (and a chunk is the unit of reading).
std::string PackPrograms(std::span<const PoolProgram> programs);
std::string PackFeatures(std::span<const PoolProgram> programs);

/// Programs without their features.
Result<std::vector<PoolProgram>> UnpackPrograms(std::string_view bytes);
Result<std::vector<feature::FeatureMatrix>> UnpackFeatures(std::string_view bytes);

}  // namespace bayloom::record
