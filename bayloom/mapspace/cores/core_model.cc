// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/cores/core_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::mapspace {
namespace {

/// The architecture with an outermost level that costs nothing.
Architecture WithFreeMemory(Architecture architecture) {
  if (architecture.IsSparse()) {
    throw InputError("several cores are counted with dense tensors; " + architecture.name +
                     " makes use of zeros");
  }
  StorageLevel& memory = architecture.levels.back();
  memory.access_energy_pj = 0;
  memory.write_energy_pj.reset();
  memory.read_bandwidth = memory.write_bandwidth = memory.shared_bandwidth =
      std::numeric_limits<double>::infinity();
  return architecture;
}

std::vector<int64_t> PartsOf(int64_t bound, int64_t most) {
  std::vector<int64_t> parts;
  for (int64_t count = 2; count <= std::min(bound, most); ++count) {
    if (bound % count == 0) parts.push_back(count);
  }
  return parts;
}

}  // namespace

int CoreSplit::CoreCount() const {
  int64_t cores = 1;
  for (const Axis& axis : axes) cores *= axis.parts;
  return static_cast<int>(cores);
}

std::string CoreSplit::Describe(const Problem& problem) const {
  std::string text;
  for (const Axis& axis : axes) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : " ", problem.dimensions[axis.dimension],
                        axis.parts);
  }
  return text.empty() ? "-" : text;
}

std::vector<CoreSplit> SplitsOver(const Problem& problem, int cores) {
  DimensionSet of_outputs = ~DimensionSet{0};
  for (const DataSpace& tensor : problem.tensors) {
    if (tensor.read_write) of_outputs &= tensor.Indexed();
  }
  std::vector<CoreSplit> splits;
  for (int a = 0; a < problem.DimensionCount(); ++a) {
    if ((of_outputs >> a & 1) == 0) continue;
    for (const int64_t parts : PartsOf(problem.bounds[a], cores)) {
      splits.push_back({{{a, parts}}});
      for (int b = a + 1; b < problem.DimensionCount(); ++b) {
        if ((of_outputs >> b & 1) == 0) continue;
        for (const int64_t others : PartsOf(problem.bounds[b], cores / parts)) {
          splits.push_back({{{a, parts}, {b, others}}});
        }
      }
    }
  }
  int most = 0;
  for (const CoreSplit& split : splits) most = std::max(most, split.CoreCount());
  std::erase_if(splits, [&](const CoreSplit& split) { return 2 * split.CoreCount() <= most; });
  return splits;
}

Problem PartOf(const Problem& problem, const CoreSplit& split) {
  Problem part = problem;
  for (const CoreSplit::Axis& axis : split.axes) part.bounds[axis.dimension] /= axis.parts;
  return part;
}

CoreModel::CoreModel(const Problem& problem, const Architecture& architecture,
                     const NetworkOnChip& network, CoreSplit split, ReuseCounting counting)
    : memory_(architecture.levels.back()),
      network_(network),
      split_(std::move(split)),
      part_(PartOf(problem, split_), WithFreeMemory(architecture), counting) {
  if (split_.CoreCount() > network_.CoreCount()) {
    throw InputError(fmt::format("a layer is divided into {} parts for {} cores",
                                 split_.CoreCount(), network_.CoreCount()));
  }
  for (const DataSpace& tensor : problem.tensors) sharers_.push_back(SharersOf(tensor));
}

std::vector<std::vector<int>> CoreModel::SharersOf(const DataSpace& tensor) const {
  std::map<std::vector<int64_t>, std::vector<int>> groups;
  for (int core = 0; core < split_.CoreCount(); ++core) {
    std::vector<int64_t> place;
    int64_t rest = core;
    for (const CoreSplit::Axis& axis : split_.axes) {
      if (tensor.Indexed() >> axis.dimension & 1) place.push_back(rest % axis.parts);
      rest /= axis.parts;
    }
    groups[place].push_back(core);
  }
  std::vector<std::vector<int>> sharers;
  for (auto& [place, cores] : groups) sharers.push_back(std::move(cores));
  return sharers;
}

CoreCost CoreModel::Evaluate(const Mapping& mapping) const {
  const Evaluation core = part_.Evaluate(mapping);
  const double cores = split_.CoreCount();
  const LevelTraffic& outermost = core.levels[part_.architecture().LevelCount() - 1];
  CoreCost cost;
  cost.macs = cores * static_cast<double>(core.macs);
  cost.core_energy_pj = cores * core.energy_pj;
  cost.energy_pj = cost.core_energy_pj;
  NetworkTraffic traffic(network_);
  const auto compute = static_cast<double>(core.macs / core.multipliers);
  double reads = 0, writes = 0;  // words a cycle
  for (size_t t = 0; t < sharers_.size(); ++t) {
    const TensorTraffic& words = outermost.tensors[t];
    const auto groups = static_cast<int64_t>(sharers_[t].size());
    const int64_t read = outermost.instances * words.reads;
    const int64_t written = outermost.instances * words.updates;
    for (const std::vector<int>& group : sharers_[t]) {
      traffic.FromMemory(group, static_cast<double>(read));
      for (const int sender : group) traffic.ToMemory(sender, static_cast<double>(written));
    }
    // Outputs have no sharers.
    const double energy =
        memory_.EnergyPj(memory_.Blocks(groups * read), memory_.Blocks(groups * written));
    cost.memory_energy_pj += energy;
    cost.energy_pj += energy;
    cost.memory_reads += groups * read;
    cost.memory_writes += groups * written;
    reads += static_cast<double>(groups * read) / compute;
    writes += static_cast<double>(groups * written) / compute;
  }
  cost.network_energy_pj = traffic.EnergyPj();
  cost.energy_pj += cost.network_energy_pj;
  cost.network_sent = traffic.sent();
  cost.network_delivered = traffic.delivered();
  cost.network_word_hops = traffic.word_hops();
  const double memory_cycles = std::ceil(compute / memory_.Slowdown(reads, writes));
  cost.cycles = std::max({core.cycles, static_cast<int64_t>(memory_cycles), traffic.Cycles()});
  return cost;
}

double CoreModel::ValueOf(const CoreCost& cost, MapObjective objective) {
  switch (objective) {
    case MapObjective::kEnergy:
      return cost.energy_pj / cost.macs;
    case MapObjective::kDelay:
      return static_cast<double>(cost.cycles);
    case MapObjective::kEnergyDelay:
      break;
  }
  return cost.energy_pj * static_cast<double>(cost.cycles);
}

std::unique_ptr<trial::Evaluator<Mapping>> MakeCoreEvaluator(const CoreModel& model,
                                                             MapObjective objective) {
  return std::make_unique<trial::InlineEvaluator<Mapping>>(
      [&model, objective](const Mapping& mapping) {
        if (!model.part().Fits(mapping)) {
          return trial::Outcome::Infeasible(trial::Verdict::kMemory,
                                            model.part().CheckFit(mapping).error().message);
        }
        const CoreCost cost = model.Evaluate(mapping);
        return FeasibleWithTieBreak(CoreModel::ValueOf(cost, objective), objective,
                                    CoreModel::ValueOf(cost, TieBreakOf(objective)));
      });
}

}  // namespace bayloom::mapspace
