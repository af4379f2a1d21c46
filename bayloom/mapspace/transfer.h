// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/encoding.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/optimizer/transfer.h"

namespace bayloom::mapspace {

/// Mappings of another problem or onto another architecture, and what they were worth.
struct EarlierMappings {
  std::string name;
  Problem problem;
  Architecture architecture;
  std::vector<Mapping> mappings;
  std::vector<double> values;
};

/// Evaluates by the model and adds every mapping that has a value to `heard`. Both must outlive the
/// evaluator.
std::unique_ptr<trial::Evaluator<Mapping>> MakeListeningEvaluator(const AnalyticalModel& model,
                                                                  MapObjective objective,
                                                                  EarlierMappings& heard);

/// Sizes of the problem and capacities, numbers of instances of the architecture, as logarithms, by
/// the names that the target has for them; 0 where no source has the name. The task parameters
/// of Kannan 2023, sec. V.
std::vector<double> DescribeTask(const Problem& problem, const Architecture& architecture,
                                 const Mapspace& target);

/// Earlier searches as an optimizer of the target's encoding learns from them: each mapping as the
/// configuration of its own mapspace under the target's constraints. Factors mean the same relative
/// to the bounds: a whole loop at one level is a whole loop at that level. What the constraints or
/// the encoding do not have is left out, and a search of which nothing remains.
/// Cycles, and energy times cycles, are brought to the target's number of multiply-accumulates.
optimizer::TransferOptions LearnFrom(std::span<const EarlierMappings> searches,
                                     const std::string& method, MapObjective objective,
                                     const Mapspace& target, const std::string& tiles,
                                     const std::string& orders);

/// What an expensive evaluator's search can learn from the model beforehand (multi-fidelity; Kannan
/// 2023, sec. IV-A): so many mappings that a genetic search of the model evaluates.
EarlierMappings WarmStartFromModel(const Mapspace& mapspace, const AnalyticalModel& model,
                                   MapObjective objective, int64_t evaluations, uint64_t seed);

}  // namespace bayloom::mapspace
