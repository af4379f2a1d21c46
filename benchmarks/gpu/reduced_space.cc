// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/gpu/reduced_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/target/gpu_limits.h"
#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

constexpr int64_t kMaxInThread = 4;
constexpr int64_t kMinSteps = 4, kMaxSteps = 32;
constexpr size_t kSpatialParts = 4, kReductionParts = 2;

std::vector<int64_t> Divisors(int64_t number, int64_t least, int64_t most) {
  std::vector<int64_t> divisors;
  for (int64_t d = least; d <= std::min(number, most); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors;
}

/// Steps that tile the product, if the space is one of two spatial iterators and a reduction whose
/// operands are copied into shared memory.
std::vector<int> TileSteps(const tensor::Trace& space) {
  std::vector<int> steps;
  bool stages = false;
  for (const int step : space.SamplingSteps()) {
    const tensor::Instruction& instruction = space.instructions()[static_cast<size_t>(step)];
    const bool tiles = instruction.kind == tensor::InstructionKind::kSamplePerfectTile;
    const size_t wanted = steps.size() < 2 ? kSpatialParts : kReductionParts;
    if (!tiles) continue;
    if (instruction.outputs.size() != wanted || steps.size() == 3) return {};
    steps.push_back(step);
  }
  for (const tensor::Instruction& instruction : space.instructions()) {
    stages |= instruction.kind == tensor::InstructionKind::kCacheRead;
  }
  return stages && steps.size() == 3 ? steps : std::vector<int>();
}

/// Whether a choice is of the iterations whose stages are in shared memory at a time.
bool ChoosesStages(const tensor::Trace& space, const tensor::Instruction& categorical) {
  return std::ranges::any_of(space.instructions(), [&](const tensor::Instruction& instruction) {
    return instruction.kind == tensor::InstructionKind::kAnnotate &&
           instruction.text == tensor::kAsyncStages &&
           std::ranges::count(instruction.inputs, categorical.outputs[0]) > 0;
  });
}

/// One stage at a time, as the limits of Scenario() count shared memory; else the candidate in the
/// middle.
tensor::Decision FixedDecision(const tensor::Trace& space, const tensor::Instruction& categorical) {
  if (!ChoosesStages(space, categorical)) {
    return {{static_cast<int64_t>(categorical.weights.size() / 2)}};
  }
  const std::vector<int64_t>& candidates = categorical.attributes;
  return {{std::ranges::find(candidates, 1) - candidates.begin()}};
}

nlohmann::json Condition(const std::string& expression, std::vector<std::string> parameters) {
  return {{"Expression", expression}, {"Parameters", std::move(parameters)}};
}

}  // namespace

ReducedSpace::ReducedSpace(const std::string& shape, const target::Target& target)
    : shape_(shape), generator_(tensor::ParseOperator(shape), target) {
  const tensor::Workload& workload = generator_.workload();
  if (workload.stages.size() != 1 || workload.stages[0].iters.size() != 3) {
    throw InputError(shape + " is no product of two matrices");
  }
  for (size_t i = 0; i < 3; ++i) extents_[i] = workload.stages[0].iters[i].extent;
  for (size_t i = 0; i < generator_.spaces().size() && space_ < 0; ++i) {
    const std::vector<int> steps = TileSteps(generator_.spaces()[i]);
    if (steps.empty()) continue;
    space_ = static_cast<int>(i);
    std::copy(steps.begin(), steps.end(), tile_steps_.begin());
  }
  if (space_ < 0) throw InputError(fmt::format("{} has no tiled space on {}", shape, target.name));
}

std::vector<ReducedConfiguration> ReducedSpace::Configurations() const {
  std::vector<ReducedConfiguration> all = {{}};
  for (size_t axis = 0; axis < 2; ++axis) {
    std::vector<ReducedConfiguration> wider;
    for (const ReducedConfiguration& outer : all) {
      for (const int64_t near : Divisors(extents_[axis], 1, kMaxInThread)) {
        for (const int64_t stride : Divisors(extents_[axis] / near, 1, kMaxInThread)) {
          const int64_t rest = extents_[axis] / (near * stride);
          for (const int64_t threads : Divisors(rest, 1, rest)) {
            ReducedConfiguration& made = wider.emplace_back(outer);
            made.near[axis] = near;
            made.strides[axis] = stride;
            made.threads[axis] = threads;
          }
        }
      }
    }
    all = std::move(wider);
  }
  std::vector<ReducedConfiguration> finished;
  for (const ReducedConfiguration& one : all) {
    for (const int64_t steps : Divisors(extents_[2], kMinSteps, kMaxSteps)) {
      finished.emplace_back(one).steps = steps;
    }
  }
  return finished;
}

Result<sketch::Candidate> ReducedSpace::Make(const ReducedConfiguration& configuration) const {
  const tensor::Trace& trace = generator_.spaces()[static_cast<size_t>(space_)];
  std::vector<std::optional<tensor::Decision>> decisions(trace.instructions().size());
  for (const int step : trace.SamplingSteps()) {
    const tensor::Instruction& instruction = trace.instructions()[static_cast<size_t>(step)];
    if (instruction.kind == tensor::InstructionKind::kSampleCategorical) {
      decisions[static_cast<size_t>(step)] = FixedDecision(trace, instruction);
    }
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t threads = configuration.threads[axis], stride = configuration.strides[axis],
                  near = configuration.near[axis];
    decisions[static_cast<size_t>(tile_steps_[axis])] =
        tensor::Decision{{extents_[axis] / (threads * stride * near), stride, threads, near}};
  }
  decisions[static_cast<size_t>(tile_steps_[2])] =
      tensor::Decision{{extents_[2] / configuration.steps, configuration.steps}};
  return generator_.Replay(space_, trace.WithDecisions(std::move(decisions)),
                           base::RandomStream(0));
}

nlohmann::json ReducedSpace::ToJson(const ReducedConfiguration& c) {
  return {{"threads_i", c.threads[0]}, {"threads_j", c.threads[1]}, {"stride_i", c.strides[0]},
          {"stride_j", c.strides[1]},  {"near_i", c.near[0]},       {"near_j", c.near[1]},
          {"steps", c.steps}};
}

nlohmann::json ReducedSpace::Scenario(bool limits_are_known) const {
  nlohmann::json parameters = nlohmann::json::array(), conditions = nlohmann::json::array();
  const auto add = [&](const std::string& name, const std::vector<int64_t>& values) {
    parameters.push_back({{"Name", name},
                          {"Type", "int"},
                          {"Values", fmt::format("[{}]", fmt::join(values, ", "))},
                          {"Default", values.front()}});
  };
  const char* const axes[] = {"i", "j"};
  for (size_t axis = 0; axis < 2; ++axis) {
    const std::string a = axes[axis];
    add("threads_" + a, Divisors(extents_[axis], 1, extents_[axis]));
    add("stride_" + a, Divisors(extents_[axis], 1, kMaxInThread));
    add("near_" + a, Divisors(extents_[axis], 1, kMaxInThread));
    conditions.push_back(Condition(
        fmt::format("{0} % (threads_{1} * stride_{1} * near_{1}) == 0", extents_[axis], a),
        {"threads_" + a, "stride_" + a, "near_" + a}));
  }
  add("steps", Divisors(extents_[2], kMinSteps, kMaxSteps));
  if (limits_are_known) {
    const target::GpuLimits limits = target::LimitsOf(generator_.target());
    conditions.push_back(Condition(
        fmt::format("{} <= threads_i * threads_j <= {}", target::kWarpThreads, limits.max_threads),
        {"threads_i", "threads_j"}));
    conditions.push_back(Condition(
        fmt::format(
            "((stride_i - 1) * threads_i + 1) * near_i * ((stride_j - 1) * threads_j + 1) * "
            "near_j <= {}",
            sketch::kMaxSumsBox),
        {"stride_i", "threads_i", "near_i", "stride_j", "threads_j", "near_j"}));
    conditions.push_back(Condition(
        fmt::format("stride_i * near_i * stride_j * near_j <= {}", sketch::kMaxThreadSums),
        {"stride_i", "near_i", "stride_j", "near_j"}));
    conditions.push_back(Condition(
        fmt::format("4 * steps * (threads_i * stride_i * near_i + threads_j * stride_j * near_j) "
                    "<= {}",
                    limits.max_shared_bytes),
        {"steps", "threads_i", "stride_i", "near_i", "threads_j", "stride_j", "near_j"}));
  }
  return {{"General", {{"BenchmarkName", shape_}, {"OutputFormat", "JSON"}}},
          {"ConfigurationSpace", {{"TuningParameters", parameters}, {"Conditions", conditions}}}};
}

}  // namespace bayloom
