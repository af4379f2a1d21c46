// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "bayloom/mapspace/core_accounts.h"

namespace bayloom::mapspace {
namespace {

/// A core's part of a result along an axis: as equal as can be, empty where the axis is shorter.
Box PartOf(const std::vector<int64_t>& shape, int axis, int place, int cores) {
  Box box = WholeBox(shape);
  box[axis] = {shape[axis] * place / cores, shape[axis] * (place + 1) / cores};
  return box;
}

Box Intersection(const Box& a, const Box& b) {
  Box both = a;
  for (size_t x = 0; x < both.size(); ++x) {
    both[x] = {std::max(a[x].begin, b[x].begin), std::min(a[x].end, b[x].end)};
    if (both[x].IsEmpty()) both[x] = {0, 0};
  }
  return both;
}

/// Whether parts along an axis of the output have weights of their own.
bool DividesWeights(const FusedOperator& op, int axis) {
  const int weights = op.product->problem.TensorNamed("Weights");
  if (weights < 0) return false;
  const DimensionSet indexed = op.product->problem.tensors[weights].Indexed();
  for (size_t d = 0; d < op.product->output_axis.size(); ++d) {
    if (op.product->output_axis[d] == axis && (indexed >> d & 1) != 0) return true;
  }
  return false;
}

/// What a core's home level holds.
struct Held {
  int64_t words = 0, metadata_bits = 0;
};

/// How tensors are kept, going by the largest part of each product's result, that of the last core.
Result<GroupForms> FormsOf(const FusedNetwork& network, const Architecture& architecture,
                           const DividedGroup& divided, int cores, const TileCoster& coster) {
  const FusedGroup& group = divided.group;
  const auto cost = [&](int k) -> Result<std::optional<TileCost>> {
    const FusedOperator& op = network.operators[k];
    const Box box =
        PartOf(network.tensors[op.output].shape, divided.axes[k - group.begin], cores - 1, cores);
    std::optional<TileCost> tile = coster(k, TileProblem(op, box), *group.home);
    if (!tile) return Error{fmt::format("no mapping of a tile of '{}' fits", op.name)};
    return tile;
  };
  return GroupForms::Make(network, group.begin, group.end, architecture, *group.home, cost);
}

/// One operator after the other on all cores.
class SpreadLayers {
 public:
  SpreadLayers(const FusedNetwork& network, const Architecture& architecture,
               const NetworkOnChip& chip, const DividedGroup& divided, const GroupForms& forms,
               const TileCoster& coster)
      : network_(network),
        architecture_(architecture),
        divided_(divided),
        home_(*divided.group.home),
        storage_(architecture.levels[home_.level]),
        forms_(forms),
        coster_(coster),
        accounts_(architecture, home_, chip, chip.CoreCount()) {}

  Result<DividedCost> Run() {
    for (int k = divided_.group.begin; k < divided_.group.end; ++k) {
      if (Status ran = RunOperator(k); !ran) return ran.error();
    }
    for (int c = 0; c < accounts_.count(); ++c) {
      cycles_ = std::max(cycles_, accounts_.at(c).home_cycles());
    }
    DividedCost cost = accounts_.Total(cycles_, peak_);
    cost.total.has_resident_weights.resize(static_cast<size_t>(divided_.group.OperatorCount()));
    return cost;
  }

 private:
  /// Of a result of the group.
  Box Part(int tensor, int place) const {
    const int producer = network_.tensors[tensor].producer;
    return PartOf(network_.tensors[tensor].shape, divided_.axes[producer - divided_.group.begin],
                  place, accounts_.count());
  }

  /// What an operator reads at home for a box of its output, by tensor.
  std::map<int, Box> NeedOf(const FusedOperator& op, const Box& box) const {
    std::map<int, Box> need;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const bool is_streamed =
          !home_.keeps_weights && op.product && op.product->weights_operand == static_cast<int>(i);
      if (is_streamed) continue;
      const Box read = ReadBox(op.operands[i], box);
      if (IsEmpty(read)) continue;
      const auto [known, is_new] = need.try_emplace(op.operands[i].tensor, read);
      if (!is_new) known->second = Hull(known->second, read);
    }
    return need;
  }

  Status RunOperator(int k) {
    const FusedOperator& op = network_.operators[k];
    const int cores = accounts_.count();
    std::vector<std::map<int, Box>> need(static_cast<size_t>(cores));
    std::vector<Held> held(static_cast<size_t>(cores));
    int64_t slowest = 0;
    for (int c = 0; c < cores; ++c) {
      const Box box = Part(op.output, c);
      if (IsEmpty(box)) continue;
      need[c] = NeedOf(op, box);
      const Result<TileCost> cost = CostOfBox(network_, k, box, architecture_, home_, coster_);
      if (!cost) return cost.error();
      accounts_.at(c).Add(*cost, 1);
      slowest = std::max(slowest, cost->cycles);
      if (IsNeededAfter(network_, op.output, divided_.group.end)) {
        accounts_.at(c).TakeOut(WordsOf(box), forms_.Written(op.output));
      }
    }
    cycles_ += slowest;
    BringInWeights(k, held);
    Gather(need, held);
    return CheckHeld(k, held);
  }

  void Hold(int tensor, int64_t words, Held& held) const {
    held.words += forms_.HomeWords(tensor, words);
    held.metadata_bits += forms_.HomeMetadataBits(tensor, words);
  }

  void BringInWeights(int k, std::vector<Held>& held) {
    const FusedOperator& op = network_.operators[k];
    if (!op.product || !home_.keeps_weights) return;
    const int axis = divided_.axes[k - divided_.group.begin];
    std::vector<int> sharers;
    int64_t shared = 0;
    for (int c = 0; c < accounts_.count(); ++c) {
      const Box box = Part(op.output, c);
      if (IsEmpty(box)) continue;
      const int64_t words = WeightsOfTile(op, TileProblem(op, box));
      const TensorForms& form = forms_.Weights(k);
      held[c].words += form.HomeWords(words, storage_);
      held[c].metadata_bits += form.HomeMetadataBits(words);
      if (DividesWeights(op, axis)) {
        accounts_.BringIn(std::array{c}, words, 1, form);
      } else {
        sharers.push_back(c);
        shared = words;
      }
    }
    accounts_.BringIn(sharers, shared, 1, forms_.Weights(k));
  }

  /// Brings to every core what it needs: from the memory, or the cores that have computed it.
  void Gather(const std::vector<std::map<int, Box>>& need, std::vector<Held>& held) {
    const auto order = [](const Box& a, const Box& b) {
      return std::ranges::lexicographical_compare(a, b, {}, Ends, Ends);
    };
    using Readers = std::map<Box, std::vector<int>, decltype(order)>;
    std::map<std::pair<int, int>, Readers> moves;  // of a tensor, from a core; -1: the memory
    for (int c = 0; c < accounts_.count(); ++c) {
      for (const auto& [tensor, box] : need[c]) {
        if (network_.tensors[tensor].producer < divided_.group.begin) {
          moves.try_emplace(std::pair(tensor, -1), order).first->second[box].push_back(c);
          Hold(tensor, WordsOf(box), held[c]);
          continue;
        }
        for (int owner = 0; owner < accounts_.count(); ++owner) {
          const Box both = Intersection(box, Part(tensor, owner));
          if (owner == c || WordsOf(both) == 0) continue;
          moves.try_emplace(std::pair(tensor, owner), order).first->second[both].push_back(c);
          Hold(tensor, WordsOf(both), held[c]);
        }
      }
    }
    for (const auto& [from, readers] : moves) {
      for (const auto& [box, places] : readers) {
        if (from.second < 0) {
          accounts_.BringIn(places, WordsOf(box), 1, forms_.Read(from.first));
        } else {
          accounts_.Move(from.second, places, WordsOf(box), 1, forms_.Read(from.first));
        }
      }
    }
  }
  static std::pair<int64_t, int64_t> Ends(const Interval& interval) {
    return {interval.begin, interval.end};
  }

  /// Besides, a core holds its parts of results from the operator that computes them to the last
  /// one that reads them.
  Status CheckHeld(int k, std::vector<Held> held) {
    for (int t = 0; t < std::ssize(network_.tensors); ++t) {
      const FusedTensor& tensor = network_.tensors[t];
      if (tensor.producer < divided_.group.begin || tensor.producer > k) continue;
      int last = tensor.producer;
      for (const int consumer : tensor.consumers) {
        if (consumer < divided_.group.end) last = consumer;
      }
      if (last < k) continue;
      for (int c = 0; c < accounts_.count(); ++c) Hold(t, WordsOf(Part(t, c)), held[c]);
    }
    for (const Held& core : held) peak_ = std::max(peak_, core.words);
    const LevelSparsity& sparsity = storage_.sparsity;
    const int64_t bits = sparsity.metadata_depth * sparsity.metadata_width_bits;
    const bool has_room = bits == 0 || std::ranges::all_of(held, [&](const Held& core) {
                            return core.metadata_bits <= bits;
                          });
    if (peak_ <= storage_.words && has_room) return Ok();
    return Error{
        fmt::format("parts of '{}' do not fit into {}", network_.operators[k].name, storage_.name)};
  }

  const FusedNetwork& network_;
  const Architecture& architecture_;
  const DividedGroup& divided_;
  RetentionLevel home_;
  const StorageLevel& storage_;
  const GroupForms& forms_;
  const TileCoster& coster_;
  CoreAccounts accounts_;
  int64_t cycles_ = 0, peak_ = 0;
};

}  // namespace

Result<DividedCost> CostOfSpreadLayers(const FusedNetwork& network,
                                       const Architecture& architecture, const NetworkOnChip& chip,
                                       const DividedGroup& divided, const TileCoster& coster) {
  if (chip.CoreCount() < 2) return Error{"there is one core"};
  for (int k = divided.group.begin; k < divided.group.end; ++k) {
    const int axis = divided.axes[k - divided.group.begin];
    const FusedOperator& op = network.operators[k];
    if (axis < 0 || axis >= std::ssize(network.tensors[op.output].shape)) {
      return Error{fmt::format("'{}' has no such axis", op.name)};
    }
    if (op.product && op.product->weights_operand >= 0 && !divided.group.home->keeps_weights &&
        network.tensors[op.operands[op.product->weights_operand].tensor].producer >=
            divided.group.begin) {
      return Error{fmt::format("'{}' would stay where no second operand may", op.name)};
    }
  }
  const Result<GroupForms> forms =
      FormsOf(network, architecture, divided, chip.CoreCount(), coster);
  if (!forms) return forms.error();
  return SpreadLayers(network, architecture, chip, divided, *forms, coster).Run();
}

}  // namespace bayloom::mapspace
