// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/group_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "bayloom/mapspace/fused/group_account.h"
#include "bayloom/mapspace/sparse/access_form.h"

namespace bayloom::mapspace {
namespace {

/// What the home level has room for: words, or bits in a memory of metadata.
struct Room {
  int64_t capacity;
  DepthFirstTiles::Measure of_tensor;                        ///< none: words as they are
  std::function<int64_t(int op, int64_t words)> of_weights;  ///< the same
};

/// The most of any kind of tile while the operators [begin, end) run.
int64_t PeakOf(const DepthFirstTiles& tiles, RetentionLevel home,
               const std::vector<bool>& is_resident, const Room& room, int begin, int end) {
  const FusedNetwork& network = tiles.network();
  const auto taken = [&](int op, int64_t words) {
    return room.of_weights ? room.of_weights(op, words) : words;
  };
  int64_t resident = 0;
  for (int k = begin; k < end; ++k) {
    if (is_resident[k - tiles.begin()]) resident += taken(k, network.WeightWords(k));
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
        weights[at] += taken(k, WeightsOfTile(op, TileProblem(op, *box)));
      }
    }
    peak = std::max(peak, tiles.PeakWords(kind, weights, begin, end, room.of_tensor));
  }
  return peak;
}

/// Words, and bits where metadata have a memory of limited size.
std::vector<Room> RoomsOf(const StorageLevel& storage, const GroupForms& forms) {
  std::vector<Room> rooms(1, {.capacity = storage.words, .of_tensor = {}, .of_weights = {}});
  if (forms.is_plain()) return rooms;
  rooms[0].of_tensor = [&](int t, int64_t words) { return forms.HomeWords(t, words); };
  rooms[0].of_weights = [&](int op, int64_t words) {
    return forms.Weights(op).HomeWords(words, storage);
  };
  const LevelSparsity& sparsity = storage.sparsity;
  if (!sparsity.HasMetadataStorage() || sparsity.metadata_depth == 0) return rooms;
  rooms.push_back(
      {.capacity = sparsity.metadata_depth * sparsity.metadata_width_bits,
       .of_tensor = [&](int t, int64_t words) { return forms.HomeMetadataBits(t, words); },
       .of_weights = [&](int op,
                         int64_t words) { return forms.Weights(op).HomeMetadataBits(words); }});
  return rooms;
}

}  // namespace

Problem TileProblem(const FusedOperator& op, const Box& output) {
  Problem tile = op.product->problem;
  for (int d = 0; d < tile.DimensionCount(); ++d) {
    const int axis = op.product->output_axis[d];
    if (axis >= 0) tile.bounds[d] = output[axis].Length();
  }
  const Extents whole = op.product->problem.Whole(), part = tile.Whole();
  for (DataSpace& tensor : tile.tensors) {
    Density& density = tensor.density;
    if (density.kind != Density::Kind::kHypergeometric || density.whole_words != 0) continue;
    const int64_t words = tensor.BoxWords(whole);
    if (tensor.BoxWords(part) < words) density.whole_words = words;
  }
  return tile;
}

Result<WeightsPlan> PlanWeights(const TiledGroup& group, const Architecture& architecture,
                                RetentionLevel home, int begin, int end) {
  const auto& [tiles, forms] = group;
  const size_t count = static_cast<size_t>(tiles.end() - tiles.begin());
  const StorageLevel& storage = architecture.levels[home.level];
  const std::vector<Room> rooms = RoomsOf(storage, forms);
  WeightsPlan plan{.is_resident = std::vector<bool>(count, false), .peak_words = 0};
  const auto fits = [&] {
    int64_t words = 0;
    for (const Room& room : rooms) {
      const int64_t peak = PeakOf(tiles, home, plan.is_resident, room, begin, end);
      if (peak > room.capacity) return false;
      if (&room == &rooms.front()) words = peak;
    }
    plan.peak_words = words;
    return true;
  };
  if (!fits()) return Error{fmt::format("tiles do not fit into {}", storage.name)};
  if (!home.keeps_weights || tiles.TileCount() == 1) return plan;
  std::vector<int> order(static_cast<size_t>(end - begin));
  std::iota(order.begin(), order.end(), begin - tiles.begin());
  const auto words = [&](int k) { return tiles.network().WeightWords(tiles.begin() + k); };
  std::ranges::stable_sort(order, std::greater<>(), words);
  for (const int k : order) {
    if (words(k) == 0 || (forms.is_plain() && words(k) > storage.words)) continue;
    plan.is_resident[k] = true;
    plan.is_resident[k] = fits();
  }
  return plan;
}

Result<GroupCost> CostOfFusedGroup(const FusedNetwork& network, const Architecture& architecture,
                                   const FusedGroup& group, const TileCoster& coster) {
  const RetentionLevel home = *group.home;
  const Result<TiledGroup> tiled = TiledGroup::Make(network, architecture, group, coster);
  if (!tiled) return tiled.error();
  const auto& [tiles, forms] = *tiled;
  const Result<WeightsPlan> weights =
      PlanWeights(*tiled, architecture, home, group.begin, group.end);
  if (!weights) return weights.error();
  GroupAccount account(architecture, home);
  const Status added =
      AddTiles(*tiled, tiles.kinds(), architecture, home, weights->is_resident, coster, account);
  if (!added) return added.error();
  for (int k = group.begin; k < group.end; ++k) {
    const int output = network.operators[k].output;
    if (weights->is_resident[k - group.begin]) {
      account.BringIn(network.WeightWords(k), 1, forms.Weights(k));
    }
    if (IsNeededAfter(network, output, group.end)) {
      account.TakeOut(network.tensors[output].Words(), forms.Written(output));
    }
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
                            const Evaluation& evaluation, const SparseEvaluation* sparse) {
  TileCost cost = LayerCost(evaluation, architecture, sparse);
  const FusedOperator& of = network.operators[op];
  const int inputs = of.product->problem.TensorNamed("Inputs");
  if (inputs < 0) return CostOfLayer(cost);
  std::span<const FusedOperand> operands = of.operands;
  if (of.product->weights_operand >= 0) {
    operands = operands.first(static_cast<size_t>(of.product->weights_operand));
  }
  const int64_t box = of.product->problem.tensors[inputs].BoxWords(of.product->problem.Whole());
  const int64_t words = WordsRead(operands, WholeBox(network.tensors[of.output].shape));
  if (operands.empty() || words >= box) return CostOfLayer(cost);
  const int outer_level = architecture.LevelCount() - 1;
  const StorageLevel& outermost = architecture.levels[outer_level];
  const LevelTraffic& traffic = evaluation.levels[outer_level];
  const AccessForm form =
      sparse == nullptr ? AccessForm() : AccessForm(sparse->levels[outer_level][inputs], kReads);
  const int64_t counted = sparse == nullptr ? traffic.tensors[inputs].reads : form.dense();
  const int64_t rest = static_cast<int64_t>(std::ceil(
      static_cast<double>(counted % box) * static_cast<double>(words) / static_cast<double>(box)));
  const int64_t read = counted / box * words + rest;
  const int64_t padding = form.MovedWords(counted, outermost) - form.MovedWords(read, outermost);
  cost.outside_reads -= traffic.instances * padding;
  cost.energy_pj -= static_cast<double>(traffic.instances) *
                    (form.EnergyPj(counted, outermost, outermost.access_energy_pj) -
                     form.EnergyPj(read, outermost, outermost.access_energy_pj));
  const int64_t compute =
      sparse == nullptr ? evaluation.macs / evaluation.multipliers : sparse->compute_cycles;
  cost.cycles =
      std::max(compute, TransferCycles(cost.outside_reads / traffic.instances,
                                       cost.outside_writes / traffic.instances, outermost));
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
