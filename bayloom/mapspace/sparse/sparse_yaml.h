// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/mapspace/architecture.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

// Timeloop's files of sparse tensors, its spellings with '-' and with '_'. All readers throw
// InputError with the place.

/// A tensor's density: a map of `distribution` and `density`, `band_width` (of "banded") or
/// `data_file_path` (of "real-data"; the file is not read yet), a number (fixed-structured, as
/// Timeloop takes it), or what ParseDensity takes, such as "2:4".
Density ReadDensity(const yaml::YamlValue& value);

/// What one level or the multipliers do about zeros: `representation_format`,
/// `action_optimization`, `compute_optimization`.
void ReadLevelOptimizations(const yaml::YamlValue& target, LevelSparsity& sparsity);
void ReadComputeOptimizations(const yaml::YamlValue& target, ComputeSparsity& sparsity);

/// `sparse_optimizations:` with `targets:`, each with the name of a level or of the multipliers.
void ReadOptimizations(const yaml::YamlValue& section, Architecture& architecture);

/// The same as text, a section of its own; empty if there is nothing.
std::string PrintOptimizations(const Architecture& architecture);

}  // namespace bayloom::mapspace
