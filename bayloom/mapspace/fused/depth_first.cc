// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/depth_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bayloom::mapspace {
namespace {

/// Words of a box along the axes with this label.
int64_t LengthAlong(const Box& box, const std::vector<int>& label, int tiled_axis) {
  int64_t length = 1;
  for (size_t x = 0; x < box.size(); ++x) {
    if (label[x] == tiled_axis) length *= box[x].Length();
  }
  return length;
}

}  // namespace

Result<DepthFirstTiles> DepthFirstTiles::Make(const FusedNetwork& network, int begin, int end,
                                              const DepthFirstTiling& tiling,
                                              bool weights_are_streamed,
                                              std::vector<int64_t> starts) {
  DepthFirstTiles tiles;
  tiles.network_ = &network;
  tiles.begin_ = begin;
  tiles.end_ = end;
  tiles.tiling_ = tiling;
  tiles.weights_are_streamed_ = weights_are_streamed;
  tiles.starts_ = std::move(starts);
  tiles.parts_.resize(network.tensors.size());
  const std::vector<int64_t>& sink = network.tensors[network.operators[end - 1].output].shape;
  for (const DepthFirstTiling::Axis& axis : tiling.axes) {
    if (axis.axis < 0 || axis.axis >= std::ssize(sink) || axis.size < 1) {
      return Error{"a tile needs an axis of the last output and a size"};
    }
  }
  for (int k = begin; k < end; ++k) {
    const FusedOperator& op = network.operators[k];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const int tensor = op.operands[i].tensor;
      const bool is_weights =
          op.product && op.product->weights_operand == static_cast<int>(i) && weights_are_streamed;
      if (is_weights && network.tensors[tensor].producer >= begin) {
        return Error{fmt::format("'{}' would stay where no second operand may", op.name)};
      }
    }
  }
  if (Status labels = tiles.FindLabels(); !labels) return labels.error();
  for (int a = 0; a < std::ssize(tiling.axes); ++a) tiles.FindSides(a);
  tiles.kinds_ = tiles.KindsBetween(0, tiles.OuterPositions());
  return tiles;
}

int64_t DepthFirstTiles::Positions(int tiled_axis) const {
  const DepthFirstTiling::Axis& axis = tiling_.axes[tiled_axis];
  const int64_t extent = network_->tensors[network_->operators[end_ - 1].output].shape[axis.axis];
  return (extent + axis.size - 1) / axis.size;
}

int64_t DepthFirstTiles::TileCount() const {
  int64_t count = 1;
  for (int a = 0; a < std::ssize(tiling_.axes); ++a) count *= Positions(a);
  return count;
}

bool DepthFirstTiles::IsStreamed(const FusedOperator& op, size_t operand) const {
  return weights_are_streamed_ && op.product &&
         op.product->weights_operand == static_cast<int>(operand);
}

/// Whether a tensor has to be complete in the end, other than the last output, which is anyway.
bool DepthFirstTiles::Escapes(int tensor) const {
  const FusedTensor& of = network_->tensors[tensor];
  if (of.producer < begin_ || of.producer >= end_ - 1) return false;
  return !IsReadInside(tensor) || IsNeededAfter(*network_, tensor, end_);
}

bool DepthFirstTiles::IsReadInside(int tensor) const {
  return std::ranges::any_of(network_->tensors[tensor].consumers,
                             [&](int consumer) { return consumer >= begin_ && consumer < end_; });
}

Box DepthFirstTiles::SinkBox(int tiled_axis, int64_t position) const {
  Box box = WholeBox(network_->tensors[network_->operators[end_ - 1].output].shape);
  if (tiled_axis < 0) return box;
  const DepthFirstTiling::Axis& axis = tiling_.axes[tiled_axis];
  Interval& side = box[axis.axis];
  side = {position * axis.size, std::min(side.end, (position + 1) * axis.size)};
  return box;
}

Status DepthFirstTiles::FindLabels() {
  // What all tiles together need, and what each position along an axis needs by itself.
  std::vector<Box> without_escaping(network_->tensors.size());
  const auto trace = [&](int tiled_axis, int64_t position) {
    std::vector<Box> need(network_->tensors.size());
    need[network_->operators[end_ - 1].output] = SinkBox(tiled_axis, position);
    for (int k = end_ - 1; k >= begin_; --k) {
      const FusedOperator& op = network_->operators[k];
      Box& own = need[op.output];
      if (Escapes(op.output)) {
        const Box whole = WholeBox(network_->tensors[op.output].shape);
        Box& natural = without_escaping[op.output];
        if (tiled_axis < 0) natural = own;
        if (own.empty() || tiled_axis < 0) own = whole;
        for (size_t x = 0; x < own.size() && !natural.empty(); ++x) {
          if (own[x] == natural[x]) own[x] = whole[x];
        }
      }
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (IsStreamed(op, i)) continue;
        Box& read = need[op.operands[i].tensor];
        const Box box = ReadBox(op.operands[i], own);
        read = read.empty() ? box : Hull(read, box);
      }
    }
    return need;
  };
  const auto mark_used = [&](int tensor) {
    TensorParts& parts = parts_[tensor];
    if (parts.is_used) return;
    parts.is_used = true;
    parts.label.assign(network_->tensors[tensor].shape.size(), -1);
    parts.sides.resize(tiling_.axes.size());
    used_.push_back(tensor);
  };
  for (int k = begin_; k < end_; ++k) {
    const FusedOperator& op = network_->operators[k];
    mark_used(op.output);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!IsStreamed(op, i)) mark_used(op.operands[i].tensor);
    }
  }
  std::ranges::sort(used_);
  std::vector<Box> full = trace(-1, 0);
  for (const int tensor : used_) parts_[tensor].full = std::move(full[tensor]);
  for (int a = 0; a < std::ssize(tiling_.axes); ++a) {
    for (int64_t position = 0; position < Positions(a) && Positions(a) > 1; ++position) {
      const std::vector<Box> need = trace(a, position);
      for (const int tensor : used_) {
        TensorParts& parts = parts_[tensor];
        if (IsEmpty(need[tensor])) continue;
        for (size_t x = 0; x < need[tensor].size(); ++x) {
          if (need[tensor][x] == parts.full[x]) continue;
          if (parts.label[x] >= 0 && parts.label[x] != a) {
            return Error{fmt::format("an axis of '{}' follows two tiled axes",
                                     network_->tensors[tensor].name)};
          }
          parts.label[x] = a;
        }
      }
    }
    for (const int tensor : used_) {
      if (tiling_.axes[a].is_cached && std::ranges::count(parts_[tensor].label, a) > 1) {
        return Error{
            fmt::format("two axes of '{}' follow one tiled axis", network_->tensors[tensor].name)};
      }
    }
  }
  return Ok();
}

void DepthFirstTiles::Complete(const TensorParts& parts, int tiled_axis, bool is_last,
                               const Frontier& frontier, Side& side) const {
  const bool follows = std::ranges::find(parts.label, tiled_axis) != parts.label.end();
  if (!follows || (!is_last && !side.is_needed)) return;
  if (!side.is_needed) {
    side.need = parts.full;
    for (size_t x = 0; x < parts.label.size(); ++x) {
      if (parts.label[x] == tiled_axis) side.need[x].begin = frontier.reached[x];
    }
  }
  for (size_t x = 0; x < parts.label.size(); ++x) {
    if (parts.label[x] != tiled_axis) continue;
    Interval& along = side.need[x];
    along.begin = std::min(along.begin, frontier.reached[x]);
    if (is_last) along.end = parts.full[x].end;
  }
  side.is_needed = !IsEmpty(side.need);
}

void DepthFirstTiles::Advance(const TensorParts& parts, int tiled_axis, Frontier& frontier,
                              Side& side) const {
  if (!side.is_needed) return;
  side.fresh = side.need;
  const bool follows = std::ranges::find(parts.label, tiled_axis) != parts.label.end();
  bool is_known = false;
  if (tiling_.axes[tiled_axis].is_cached && frontier.is_known) {
    is_known = !follows;
    for (size_t x = 0; x < side.fresh.size(); ++x) {
      if (parts.label[x] != tiled_axis) continue;
      side.fresh[x].begin = std::max(side.fresh[x].begin, frontier.reached[x]);
      side.fresh[x].end = std::max(side.fresh[x].begin, side.fresh[x].end);
    }
  }
  side.is_active = !is_known && !IsEmpty(side.fresh);
  frontier.is_known = true;
  for (size_t x = 0; x < parts.label.size(); ++x) {
    frontier.reached[x] = std::max(frontier.reached[x], side.need[x].end);
  }
}

void DepthFirstTiles::FindSides(int tiled_axis) {
  const int64_t positions = Positions(tiled_axis);
  std::vector<Frontier> frontier(network_->tensors.size());
  for (const int tensor : used_) {
    frontier[tensor].reached.assign(parts_[tensor].label.size(), 0);
    parts_[tensor].sides[tiled_axis].resize(static_cast<size_t>(positions));
  }
  const int sink = network_->operators[end_ - 1].output;
  for (int64_t position = 0; position < positions; ++position) {
    if (tiled_axis == 0 && std::ranges::binary_search(starts_, position)) {
      for (Frontier& each : frontier) each.is_known = false;
    }
    const auto side_of = [&](int tensor) -> Side& {
      return parts_[tensor].sides[tiled_axis][static_cast<size_t>(position)];
    };
    side_of(sink) = {.is_needed = true, .need = SinkBox(tiled_axis, position), .fresh = {}};
    for (int k = end_ - 1; k >= begin_; --k) {
      const FusedOperator& op = network_->operators[k];
      Side& own = side_of(op.output);
      if (Escapes(op.output)) {
        if (!IsReadInside(op.output)) {
          own = {.is_needed = true, .need = parts_[op.output].full, .fresh = {}};
        }
        Complete(parts_[op.output], tiled_axis, position + 1 == positions, frontier[op.output],
                 own);
      }
      Advance(parts_[op.output], tiled_axis, frontier[op.output], own);
      if (!own.is_active) continue;
      for (size_t i = 0; i < op.operands.size(); ++i) {
        if (IsStreamed(op, i)) continue;
        Side& read = side_of(op.operands[i].tensor);
        const Box box = ReadBox(op.operands[i], own.fresh);
        if (IsEmpty(box)) continue;
        read.need = read.is_needed ? Hull(read.need, box) : box;
        read.is_needed = true;
      }
    }
    for (const int tensor : used_) {
      if (network_->tensors[tensor].producer >= begin_) continue;
      Advance(parts_[tensor], tiled_axis, frontier[tensor], side_of(tensor));
    }
  }
}

std::vector<DepthFirstTiles::Kind> DepthFirstTiles::KindsBetween(int64_t first,
                                                                 int64_t last) const {
  // Along each axis, positions whose parts have equal sizes; then all combinations.
  std::vector<Kind> kinds = {Kind{}};
  for (int a = 0; a < std::ssize(tiling_.axes); ++a) {
    std::map<std::vector<int64_t>, std::pair<int64_t, int64_t>> classes;  // first position, count
    const int64_t begin = a == 0 ? first : 0, end = a == 0 ? last : Positions(a);
    for (int64_t position = begin; position < end; ++position) {
      std::vector<int64_t> sizes;
      for (const int tensor : used_) {
        const Side& side = parts_[tensor].sides[a][static_cast<size_t>(position)];
        sizes.push_back((side.is_active ? 1 : 0) + (side.is_needed ? 2 : 0));
        for (const Interval& interval : side.need) sizes.push_back(interval.Length());
        for (const Interval& interval : side.fresh) sizes.push_back(interval.Length());
      }
      for (int k = begin_; k < end_; ++k) {
        const FusedOperator& op = network_->operators[k];
        const Side& own = parts_[op.output].sides[a][static_cast<size_t>(position)];
        if (op.product || !own.is_active) continue;
        for (const FusedOperand& operand : op.operands) {
          for (const Interval& read : ReadBox(operand, own.fresh)) sizes.push_back(read.Length());
        }
      }
      ++classes.try_emplace(std::move(sizes), position, 0).first->second.second;
    }
    std::vector<std::pair<int64_t, int64_t>> along;
    for (const auto& [sizes, at] : classes) along.push_back(at);
    std::ranges::sort(along);
    std::vector<Kind> combined;
    for (const Kind& kind : kinds) {
      for (const auto& [position, count] : along) {
        Kind& added = combined.emplace_back(kind);
        added.count *= count;
        added.position.push_back(position);
      }
    }
    kinds = std::move(combined);
  }
  return kinds;
}

std::optional<Box> DepthFirstTiles::NewBox(int tensor, std::span<const int64_t> position) const {
  const TensorParts& parts = parts_[tensor];
  Box box = parts.full;
  for (int a = 0; a < std::ssize(tiling_.axes); ++a) {
    const Side& side = parts.sides[a][static_cast<size_t>(position[a])];
    if (!side.is_active) return std::nullopt;
    for (size_t x = 0; x < box.size(); ++x) {
      if (parts.label[x] == a) box[x] = side.fresh[x];
    }
  }
  if (IsEmpty(box)) return std::nullopt;
  return box;
}

int64_t DepthFirstTiles::NewWords(int tensor, std::span<const int64_t> position) const {
  const std::optional<Box> box = NewBox(tensor, position);
  return box ? WordsOf(*box) : 0;
}

int64_t DepthFirstTiles::NewWords(int tensor) const {
  int64_t words = 0;
  for (const Kind& kind : kinds_) words += kind.count * NewWords(tensor, kind.position);
  return words;
}

/// Whether later positions along the axis use what the first one has computed, all of it.
bool DepthFirstTiles::KeepsAll(const TensorParts& parts, int tiled_axis) const {
  if (!tiling_.axes[tiled_axis].is_cached) return false;
  if (std::ranges::find(parts.label, tiled_axis) != parts.label.end()) return false;
  const std::vector<Side>& sides = parts.sides[tiled_axis];
  return std::ranges::any_of(sides,
                             [&](const Side& side) { return side.is_needed && !side.is_active; });
}

/// Words along a tiled axis: of all positions, or the most that one of them uses.
int64_t DepthFirstTiles::SpanOf(const TensorParts& parts, int tiled_axis, bool whole) const {
  if (whole) return LengthAlong(parts.full, parts.label, tiled_axis);
  int64_t most = 0;
  for (const Side& side : parts.sides[tiled_axis]) {
    if (!side.is_needed) continue;
    most = std::max(most, LengthAlong(side.need, parts.label, tiled_axis));
  }
  return most;
}

int64_t DepthFirstTiles::KeptWords(int tensor) const {
  const TensorParts& parts = parts_[tensor];
  const int axes = static_cast<int>(tiling_.axes.size());
  int64_t kept = 0;
  for (int a = 0; a < axes; ++a) {
    if (!tiling_.axes[a].is_cached) continue;
    int64_t words = 1;
    for (size_t x = 0; x < parts.full.size(); ++x) {
      if (parts.label[x] < 0) words *= parts.full[x].Length();
    }
    for (int b = 0; b < axes; ++b) {
      if (b != a) words *= SpanOf(parts, b, b > a);
    }
    if (KeepsAll(parts, a)) return kept + words;
    int64_t overlap = 0;
    for (const Side& side : parts.sides[a]) {
      if (!side.is_needed) continue;
      overlap = std::max(overlap, LengthAlong(side.need, parts.label, a) -
                                      LengthAlong(side.fresh, parts.label, a));
    }
    kept += words * overlap;
  }
  return kept;
}

int64_t DepthFirstTiles::CarriedWords(int tensor, int64_t first, int64_t last) const {
  const TensorParts& parts = parts_[tensor];
  if (tiling_.axes.empty() || !tiling_.axes[0].is_cached) return 0;
  for (int64_t position = first; position < last; ++position) {
    // What is used begins later at every position: none after the first one reaches further back.
    const Side& side = parts.sides[0][static_cast<size_t>(position)];
    if (!side.is_needed) continue;
    const bool follows = std::ranges::find(parts.label, 0) != parts.label.end();
    if (!follows) return side.is_active ? 0 : WordsOf(parts.full);
    int64_t words =
        LengthAlong(side.need, parts.label, 0) - LengthAlong(side.fresh, parts.label, 0);
    for (size_t x = 0; x < parts.full.size(); ++x) {
      if (parts.label[x] != 0) words *= parts.full[x].Length();
    }
    return words;
  }
  return 0;
}

bool DepthFirstTiles::HasSharedResult() const {
  return !tiling_.axes.empty() && std::ranges::any_of(used_, [&](int tensor) {
    return network_->tensors[tensor].producer >= begin_ && KeepsAll(parts_[tensor], 0);
  });
}

int64_t DepthFirstTiles::PeakWords(const Kind& kind, std::span<const int64_t> weights, int begin,
                                   int end, const Measure& measure) const {
  const auto measured = [&](int tensor, int64_t words) {
    return measure ? measure(tensor, words) : words;
  };
  const int count = end_ - begin_;
  int64_t always = 0;
  // Words that come at an operator, and those that go after it.
  std::vector<int64_t> live(static_cast<size_t>(count) + 1);
  for (const int tensor : used_) {
    const TensorParts& parts = parts_[tensor];
    const FusedTensor& of = network_->tensors[tensor];
    int first = end, last = -1;
    const auto touch = [&](int op) {
      if (op < begin || op >= end) return;
      first = std::min(first, op);
      last = std::max(last, op);
    };
    touch(of.producer);
    for (const int consumer : of.consumers) touch(consumer);
    if (last < 0) continue;
    always += measured(tensor, KeptWords(tensor));
    bool keeps_all = false;
    for (int a = 0; a < std::ssize(tiling_.axes); ++a) keeps_all |= KeepsAll(parts, a);
    if (keeps_all) continue;
    const int64_t words = measured(tensor, NewWords(tensor, kind.position));
    for (int k = first; k <= last; ++k) live[static_cast<size_t>(k - begin_)] += words;
  }
  int64_t most = 0;
  for (int k = begin - begin_; k < end - begin_; ++k) {
    most = std::max(most, live[static_cast<size_t>(k)] + weights[static_cast<size_t>(k)]);
  }
  return always + most;
}

}  // namespace bayloom::mapspace
