// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "bayloom/mapspace/internal/group_account.h"

namespace bayloom::mapspace {
namespace {

Extents BoundsOf(const Problem& problem) {
  Extents bounds = kUnitExtents;
  std::ranges::copy(problem.bounds, bounds.begin());
  return bounds;
}

/// The most of any kind of tile while the operators [begin, end) run.
int64_t PeakOf(const DepthFirstTiles& tiles, HomeLevel home, const std::vector<bool>& is_resident,
               int begin, int end) {
  const FusedNetwork& network = tiles.network();
  int64_t resident = 0;
  for (int k = begin; k < end; ++k) {
    if (is_resident[k - tiles.begin()]) resident += network.WeightWords(k);
  }
  int64_t peak = 0;
  std::vector<int64_t> weights(is_resident.size());
  for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
    for (int k = begin; k < end; ++k) {
      const FusedOperator& op = network.operators[k];
      const size_t at = static_cast<size_t>(k - tiles.begin());
      const std::optional<Box> box = tiles.NewBox(op.output, kind.position);
      weights[at] = resident;
      if (op.product && home.keeps_weights && !is_resident[at] && box) {
        weights[at] += WeightsOfTile(op, TileProblem(op, *box));
      }
    }
    peak = std::max(peak, tiles.PeakWords(kind, weights, begin, end));
  }
  return peak;
}

}  // namespace

Problem TileProblem(const FusedOperator& op, const Box& output) {
  Problem tile = op.product->problem;
  for (int d = 0; d < tile.DimensionCount(); ++d) {
    const int axis = op.product->output_axis[d];
    if (axis >= 0) tile.bounds[d] = output[axis].Length();
  }
  return tile;
}

std::optional<WeightsPlan> PlanWeights(const DepthFirstTiles& tiles, HomeLevel home,
                                       int64_t capacity, int begin, int end) {
  const size_t count = static_cast<size_t>(tiles.end() - tiles.begin());
  WeightsPlan plan{.is_resident = std::vector<bool>(count, false), .peak_words = 0};
  plan.peak_words = PeakOf(tiles, home, plan.is_resident, begin, end);
  if (plan.peak_words > capacity) return std::nullopt;
  if (!home.keeps_weights || tiles.TileCount() == 1) return plan;
  std::vector<int> order(static_cast<size_t>(end - begin));
  std::iota(order.begin(), order.end(), begin - tiles.begin());
  const auto words = [&](int k) { return tiles.network().WeightWords(tiles.begin() + k); };
  std::ranges::stable_sort(order, std::greater<>(), words);
  for (const int k : order) {
    if (words(k) == 0 || words(k) > capacity) continue;
    plan.is_resident[k] = true;
    const int64_t peak = PeakOf(tiles, home, plan.is_resident, begin, end);
    if (peak <= capacity) {
      plan.peak_words = peak;
    } else {
      plan.is_resident[k] = false;
    }
  }
  return plan;
}

Result<GroupCost> CostOfFusedGroup(const FusedNetwork& network, const Architecture& architecture,
                                   const FusedGroup& group, const TileCoster& coster) {
  const HomeLevel home = *group.home;
  const Result<DepthFirstTiles> made =
      DepthFirstTiles::Make(network, group.begin, group.end, group.tiling, !home.keeps_weights);
  if (!made) return made.error();
  const DepthFirstTiles& tiles = *made;
  const StorageLevel& storage = architecture.levels[home.level];
  const std::optional<WeightsPlan> weights =
      PlanWeights(tiles, home, storage.words, group.begin, group.end);
  if (!weights) return Error{fmt::format("tiles do not fit into {}", storage.name)};
  GroupAccount account(architecture, home);
  for (const DepthFirstTiles::Kind& kind : tiles.kinds()) {
    const Status added = AddOperators(tiles, kind, group.begin, group.end, architecture, home,
                                      weights->is_resident, coster, account);
    if (!added) return added.error();
    for (const int input : InputsOf(network, group.begin, group.end)) {
      if (!tiles.Keeps(input)) continue;
      account.BringIn(tiles.NewWords(input, kind.position), kind.count);
    }
  }
  for (int k = group.begin; k < group.end; ++k) {
    const int output = network.operators[k].output;
    if (weights->is_resident[k - group.begin]) account.BringIn(network.WeightWords(k), 1);
    if (IsNeededAfter(network, output, group.end)) account.TakeOut(network.tensors[output].Words());
  }
  GroupCost total = account.Total();
  total.tiles = tiles.TileCount();
  total.peak_words = weights->peak_words;
  total.has_resident_weights = weights->is_resident;
  return total;
}

GroupCost CostOfStreamedLayer(const FusedNetwork& network, const Architecture& architecture,
                              int op) {
  const FusedOperator& of = network.operators[op];
  const int64_t words = network.tensors[of.output].Words();
  const Box whole = WholeBox(network.tensors[of.output].shape);
  return CostOfLayer(StreamCost(WordsRead(of.operands, whole), words,
                                of.operations_per_word * static_cast<double>(words), architecture,
                                architecture.LevelCount() - 1));
}

GroupCost CostOfMappedLayer(const FusedNetwork& network, const Architecture& architecture, int op,
                            const Evaluation& evaluation) {
  TileCost cost = LayerCost(evaluation, architecture);
  const FusedOperator& of = network.operators[op];
  const int inputs = of.product->problem.TensorNamed("Inputs");
  if (inputs < 0) return CostOfLayer(cost);
  std::span<const FusedOperand> operands = of.operands;
  if (of.product->weights_operand >= 0) {
    operands = operands.first(static_cast<size_t>(of.product->weights_operand));
  }
  const int64_t box = of.product->problem.tensors[inputs].BoxWords(BoundsOf(of.product->problem));
  const int64_t words = WordsRead(operands, WholeBox(network.tensors[of.output].shape));
  if (operands.empty() || words >= box) return CostOfLayer(cost);
  const int outer_level = architecture.LevelCount() - 1;
  const StorageLevel& outermost = architecture.levels[outer_level];
  const LevelTraffic& traffic = evaluation.levels[outer_level];
  const int64_t counted = traffic.tensors[inputs].reads;
  const int64_t rest = static_cast<int64_t>(std::ceil(
      static_cast<double>(counted % box) * static_cast<double>(words) / static_cast<double>(box)));
  const int64_t read = counted / box * words + rest;
  cost.outside_reads -= traffic.instances * (counted - read);
  cost.energy_pj -= static_cast<double>(traffic.instances) *
                    (ReadEnergy(counted, outermost) - ReadEnergy(read, outermost));
  int64_t reads = read - counted, writes = 0;
  for (const TensorTraffic& tensor : traffic.tensors) {
    reads += tensor.reads;
    writes += tensor.updates;
  }
  cost.cycles =
      std::max(evaluation.macs / evaluation.multipliers, TransferCycles(reads, writes, outermost));
  for (int l = 0; l < outer_level; ++l) {
    cost.cycles = std::max(cost.cycles, evaluation.levels[l].cycles);
  }
  return CostOfLayer(cost);
}

GroupCost CostOfLayer(const TileCost& layer) {
  return {.energy_pj = layer.energy_pj,
          .cycles = layer.cycles,
          .operations = layer.operations,
          .outside_reads = layer.outside_reads,
          .outside_writes = layer.outside_writes};
}

}  // namespace bayloom::mapspace
