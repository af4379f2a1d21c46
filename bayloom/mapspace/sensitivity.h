// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/optimizer/sensitivity.h"

namespace bayloom::mapspace {

/// Which parameters of an encoding matter, and the best of the configurations that tell.
struct EncodingSensitivity {
  std::vector<optimizer::ParameterSensitivity> ranking;
  space::Configuration best;
};

/// Evaluates so many random configurations of an encoding and ranks its parameters by them. Throws
/// InputError if fewer than two can be evaluated.
EncodingSensitivity RankEncoding(const MappingEncoding& encoding,
                                 const std::function<trial::Outcome(const Mapping&)>& evaluate,
                                 int64_t samples, uint64_t seed);

/// The encoding with all but its first so many parameters of a ranking fixed to those of a
/// configuration (Kannan 2023, sec. V-C: fewer dimensions to search).
std::unique_ptr<MappingEncoding> KeepTop(std::unique_ptr<MappingEncoding> encoding,
                                         const EncodingSensitivity& sensitivity, int count);

}  // namespace bayloom::mapspace
