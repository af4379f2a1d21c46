// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/decision_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "bayloom/base/hash.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/strategy/annotated_choice.h"

namespace bayloom::experimental {
namespace {

/// attributes of a perfect tile
int Parts(const tensor::Instruction& tile) { return static_cast<int>(tile.attributes[0]); }
int64_t MaxInnermost(const tensor::Instruction& tile) { return tile.attributes[1]; }

int64_t ExtentOf(const tensor::Decision& tile) {
  return std::accumulate(tile.values.begin(), tile.values.end(), int64_t{1}, std::multiplies<>());
}

bool IsTunable(const tensor::Trace& trace, int step) {
  switch (trace.instructions()[step].kind) {
    case tensor::InstructionKind::kSamplePerfectTile:
      return true;
    case tensor::InstructionKind::kSampleCategorical:
      return !strategy::Annotates(trace, step, sketch::kParallelJobs);
    default:
      return false;
  }
}

std::string TagOf(const tensor::Trace& trace, int step) {
  const tensor::Instruction& instruction = trace.instructions()[step];
  std::string tag = fmt::format("[v{}]_{}", fmt::join(instruction.outputs, ",v"),
                                tensor::ToString(instruction.kind));
  if (instruction.kind == tensor::InstructionKind::kSamplePerfectTile) {
    tag += fmt::format("_{}_{}", Parts(instruction), ExtentOf(*trace.decisions()[step]));
  }
  return tag;
}

const std::vector<std::vector<int64_t>>& TilingsOf(const tensor::Instruction& tile,
                                                   int64_t extent) {
  return tensor::PerfectTilings(extent, Parts(tile), MaxInnermost(tile));
}

std::unique_ptr<space::Parameter> ParameterOf(const tensor::Trace& trace, int step,
                                              TilingEncoding encoding) {
  const tensor::Instruction& instruction = trace.instructions()[step];
  const std::string tag = TagOf(trace, step);
  if (instruction.kind == tensor::InstructionKind::kSampleCategorical) {
    return space::MakeInteger(tag, 0, static_cast<int64_t>(instruction.attributes.size()) - 1);
  }
  const int64_t extent = ExtentOf(*trace.decisions()[step]);
  if (encoding == TilingEncoding::kFactorization) {
    return space::MakeFactorization(tag, extent, Parts(instruction), MaxInnermost(instruction));
  }
  return space::MakeInteger(tag, 0, std::ssize(TilingsOf(instruction, extent)) - 1);
}

}  // namespace

DecisionSpace::DecisionSpace(const tensor::Trace& trace, TilingEncoding encoding)
    : trace_(trace), encoding_(encoding) {
  space::Space::Builder builder;
  for (int step : trace.SamplingSteps()) {
    if (!IsTunable(trace, step)) continue;
    steps_.push_back(step);
    builder.Add(ParameterOf(trace, step, encoding));
  }
  space_ = *builder.Build();
}

std::shared_ptr<const space::Space> DecisionSpace::Within(std::span<const Window> windows) const {
  space::Space::Builder builder;
  for (int step : steps_) builder.Add(ParameterOf(trace_, step, encoding_));
  for (size_t i = 0; i < windows.size(); ++i) {
    const std::string name = space_->parameter(static_cast<int>(i)).name();
    builder.AddConstraint({&name, 1}, [window = windows[i], i, space = space_](const auto& values) {
      const double coordinate = *space->parameter(static_cast<int>(i)).CoordinateOf(values[0]);
      return coordinate >= window.least && coordinate <= window.most;
    });
  }
  return *builder.Build();
}

uint64_t DecisionSpace::GroupOf(const tensor::Trace& trace) {
  base::Hasher hasher;
  hasher.Add(trace.SpaceHash());
  for (int step : trace.SamplingSteps()) {
    const tensor::Decision& decision = *trace.decisions()[step];
    if (trace.instructions()[step].kind == tensor::InstructionKind::kSamplePerfectTile) {
      hasher.Add(static_cast<uint64_t>(ExtentOf(decision)));
    } else if (!IsTunable(trace, step)) {
      hasher.Add(static_cast<uint64_t>(decision.values[0]));
    }
  }
  return hasher.Digest();
}

std::optional<space::Configuration> DecisionSpace::Encode(const tensor::Trace& trace) const {
  space::Configuration configuration;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const tensor::Instruction& instruction = trace.instructions()[steps_[i]];
    const std::vector<int64_t>& values = trace.decisions()[steps_[i]]->values;
    double coordinate;
    if (instruction.kind == tensor::InstructionKind::kSampleCategorical) {
      coordinate = static_cast<double>(values[0]);
    } else if (encoding_ == TilingEncoding::kFactorization) {
      const Result<double> rank = space_->parameter(static_cast<int>(i)).CoordinateOf(values);
      if (!rank) return std::nullopt;
      coordinate = *rank;
    } else {
      const auto& tilings = TilingsOf(instruction, ExtentOf(*trace.decisions()[steps_[i]]));
      const auto place = std::lower_bound(tilings.begin(), tilings.end(), values);
      if (place == tilings.end() || *place != values) return std::nullopt;
      coordinate = static_cast<double>(place - tilings.begin());
    }
    configuration.coordinates.push_back(coordinate);
  }
  if (!space_->Contains(configuration)) return std::nullopt;
  return configuration;
}

tensor::Trace DecisionSpace::Decide(const tensor::Trace& trace,
                                    const space::Configuration& configuration) const {
  std::vector<std::optional<tensor::Decision>> decisions = trace.decisions();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const tensor::Instruction& instruction = trace.instructions()[steps_[i]];
    const double coordinate = configuration.coordinates[i];
    tensor::Decision& decision = *decisions[steps_[i]];
    if (instruction.kind == tensor::InstructionKind::kSampleCategorical) {
      decision.values = {static_cast<int64_t>(coordinate)};
    } else if (encoding_ == TilingEncoding::kFactorization) {
      space_->parameter(static_cast<int>(i)).ElementsAt(coordinate, decision.values);
    } else {
      decision.values = TilingsOf(instruction, ExtentOf(decision))[static_cast<size_t>(coordinate)];
    }
  }
  return trace.WithDecisions(std::move(decisions));
}

}  // namespace bayloom::experimental
