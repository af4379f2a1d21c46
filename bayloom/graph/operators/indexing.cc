// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that move elements about: permutations, concatenations, repetitions, blocks.
#include <fmt/format.h>

#include <algorithm>

#include "bayloom/graph/operators/helpers.h"
#include "bayloom/graph/operators/repeated.h"

namespace bayloom::graph {
namespace {

void Transpose(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  std::vector<int64_t> reversed(Rank(x));
  for (int d = 0; d < Rank(x); ++d) reversed[d] = Rank(x) - 1 - d;
  const std::vector<int64_t> permutation = context.Ints("perm", reversed);
  std::vector<int> axes(permutation.begin(), permutation.end());
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != AllAxes(Rank(x))) {
    context.Refuse("attribute perm is not a permutation of the input's axes");
  }
  const tensor::Tensor permuted = Permute(context, x, axes);
  NotePermuted(context, x, axes, permuted);
  context.SetOutput(0, permuted);
}

void Concat(OperatorContext& context) {
  std::vector<tensor::Tensor> parts = context.Inputs();
  const tensor::Tensor first = context.Input(0);
  const int axis = context.Axis("axis", std::nullopt, Rank(first));
  std::vector<int64_t> shape = first.shape();
  shape[axis] = 0;
  for (const tensor::Tensor& part : parts) {
    std::vector<int64_t> expected = shape;
    if (Rank(part) == Rank(first)) expected[axis] = part.shape()[axis];
    if (part.shape() != expected || part.dtype() != first.dtype()) {
      context.Refuse(fmt::format("{} cannot be joined to {} along axis {}",
                                 ToString(part.dtype(), part.shape()),
                                 ToString(first.dtype(), first.shape()), axis));
    }
    shape[axis] += part.shape()[axis];
  }
  std::erase_if(parts, [&](const tensor::Tensor& part) { return part.shape()[axis] == 0; });
  if (parts.empty()) return context.SetOutput(0, first);
  context.SetOutput(0, Concatenate(context, parts, axis));
}

/// Of the lengths that are known when the network runs only, those are needed along which the data
/// have one element.
std::vector<int64_t> ExpandedShape(OperatorContext& context, const tensor::Tensor& x) {
  if (context.ConstantInput(1)) return BroadcastShape(context, {x.shape(), context.IntsInput(1)});
  const tensor::Tensor wanted = context.Input(1);
  if (Rank(wanted) != 1 || !tensor::IsInteger(wanted.dtype())) {
    context.Refuse("the shape is no list of integers");
  }
  const int64_t rank = std::max<int64_t>(wanted.shape()[0], Rank(x));
  const int64_t first = rank - wanted.shape()[0], first_of_x = rank - Rank(x);
  CheckedElementCount(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  std::vector<int64_t> shape;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t own = d < first_of_x ? 1 : x.shape()[static_cast<size_t>(d - first_of_x)];
    if (d < first) {
      shape.push_back(own);
      continue;
    }
    const tensor::Expr length = context.builder().ElementOf(wanted, {d - first});
    if (length->op == tensor::ExprOp::kInt) {
      shape.push_back(BroadcastShape(context, {{own}, {length->int_value}})[0]);
    } else if (own != 1) {
      shape.push_back(own);
    } else {
      const tensor::Tensor count =
          context.builder().Map("length", {}, [&](const Exprs&) { return length; });
      shape.push_back(context.FindLength(count, 0, static_cast<int>(d)));
    }
  }
  return shape;
}

void Expand(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const std::vector<int64_t> shape = ExpandedShape(context, x);
  if (shape == x.shape()) return context.SetOutput(0, x);
  const tensor::Tensor expanded = context.builder().Map(
      "expand", shape, [&](const Exprs& place) { return BroadcastAt(x, place); });
  NoteExpanded(context, x, expanded);
  context.SetOutput(0, expanded);
}

void Tile(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const tensor::Tensor given = context.Input(1);
  if (given.shape() != std::vector<int64_t>{Rank(x)} || !tensor::IsInteger(given.dtype())) {
    context.Refuse("repeats needs one integer per axis");
  }
  std::vector<int64_t> shape = x.shape(), repeats(shape.size(), -1);  // -1: not known
  for (size_t d = 0; d < shape.size(); ++d) {
    const tensor::Expr times = context.builder().ElementOf(given, {static_cast<int64_t>(d)});
    if (times->op == tensor::ExprOp::kInt) {
      repeats[d] = times->int_value;
      shape[d] = CheckedElementCount({shape[d], repeats[d]});
    } else if (shape[d] > 0) {
      const tensor::Tensor count = context.builder().Map("length", {}, [&](const Exprs&) {
        return tensor::Cast(tensor::DType::kInt64, times) * tensor::Expr(x.shape()[d]);
      });
      shape[d] = context.FindLength(count, 0, static_cast<int>(d));
    }
  }
  context.SetOutput(0, context.builder().Map("tile", shape, [&](const Exprs& place) {
    Exprs index;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t extent = x.shape()[d];
      index.push_back(extent == 1       ? tensor::Expr(0)
                      : repeats[d] == 1 ? place[d]
                                        : tensor::FloorMod(place[d], tensor::Expr(extent)));
    }
    return x.At(index);
  }));
}

int64_t BlockSize(OperatorContext& context, const tensor::Tensor& x) {
  const int64_t block = context.Int("blocksize");
  if (Rank(x) != 4) context.Refuse("the input needs 4 dimensions");
  if (block < 1 || block > (1 << 20)) {
    context.RefuseAttribute("blocksize", fmt::format("{}", block), "has to be positive");
  }
  return block;
}

/// How the elements of a block lie in the channels: all channels of one place in the block
/// together (DCR), or all places of one channel (CRD).
std::string BlockMode(OperatorContext& context) {
  const std::string mode = context.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    context.RefuseAttribute("mode", mode, "has to be DCR or CRD");
  }
  return mode;
}

void DepthToSpace(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t block = BlockSize(context, x);
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  if (c % (block * block) != 0) context.Refuse("channels do not divide into blocks");
  const int64_t depth = c / (block * block);
  const bool depth_first = BlockMode(context) == "DCR";
  const tensor::Tensor split =
      context.builder().View(x, depth_first ? std::vector<int64_t>{n, block, block, depth, h, w}
                                            : std::vector<int64_t>{n, depth, block, block, h, w});
  const tensor::Tensor moved = Permute(
      context, split,
      depth_first ? std::vector<int>{0, 3, 4, 1, 5, 2} : std::vector<int>{0, 1, 4, 2, 5, 3});
  context.SetOutput(0, context.builder().View(moved, {n, depth, h * block, w * block}));
}

void SpaceToDepth(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int64_t block = BlockSize(context, x);
  const int64_t n = x.shape()[0], c = x.shape()[1], h = x.shape()[2], w = x.shape()[3];
  if (h % block != 0 || w % block != 0) context.Refuse("the image does not divide into blocks");
  const bool depth_last = BlockMode(context) == "DCR";
  const tensor::Tensor split =
      context.builder().View(x, {n, c, h / block, block, w / block, block});
  const tensor::Tensor moved =
      Permute(context, split,
              depth_last ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4});
  context.SetOutput(0, context.builder().View(moved, {n, c * block * block, h / block, w / block}));
}

/// Keeps the part above (or below) the k-th diagonal.
void Trilu(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int rank = Rank(x);
  if (rank < 2) context.Refuse("the input needs two dimensions at least");
  const bool upper = context.Int("upper", 1) != 0;
  constexpr int64_t kOutOfRange = int64_t{1} << 41;  // beyond any matrix
  tensor::Expr k = 0;
  if (context.HasInput(1)) {
    const tensor::Tensor given = context.Input(1);
    if (CheckedElementCount(given.shape()) != 1 || given.dtype() != tensor::DType::kInt64) {
      context.Refuse("input 1 has to be one 64-bit integer");
    }
    k = context.builder().ElementOf(given, std::vector<int64_t>(given.shape().size(), 0));
    k = k->op == tensor::ExprOp::kInt
            ? tensor::Expr(std::clamp(k->int_value, -kOutOfRange, kOutOfRange))
            : tensor::Max(tensor::Min(k, tensor::Expr(kOutOfRange)), tensor::Expr(-kOutOfRange));
  }
  context.SetOutput(0, context.builder().Map("trilu", x.shape(), [&](const Exprs& place) {
    const tensor::Expr diagonal = place[rank - 2] + k;
    const tensor::Expr column = place[rank - 1];
    return tensor::Select(upper ? diagonal <= column : column <= diagonal, x.At(place),
                          tensor::Literal(0, x.dtype()));
  }));
}

/// Reverses the first sequence_lens[b] steps of every sequence of a batch.
void ReverseSequence(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0), lengths = context.Input(1);
  const int batch_axis = context.Axis("batch_axis", 1, Rank(x));
  const int time_axis = context.Axis("time_axis", 0, Rank(x));
  if (lengths.shape() != std::vector<int64_t>{x.shape()[batch_axis]} || batch_axis == time_axis) {
    context.Refuse("needs one length per sequence of the batch");
  }
  context.SetOutput(0, context.builder().Map("reversesequence", x.shape(), [&](const Exprs& place) {
    const tensor::Expr length = tensor::Cast(tensor::DType::kInt64, lengths(place[batch_axis]));
    Exprs index = place;
    const tensor::Expr mirrored = length - place[time_axis] - tensor::Expr(1);
    const tensor::Expr at = tensor::Select(place[time_axis] < length, mirrored, place[time_axis]);
    index[time_axis] = ClampedIndex(at, x.shape()[time_axis]);
    return x.At(index);
  }));
}

}  // namespace

std::span<const Operator> IndexingOperators() {
  static const Operator operators[] = {
      {"Concat", Concat},
      {"DepthToSpace", DepthToSpace},
      {"Expand", Expand},
      {"ReverseSequence", ReverseSequence},
      {"SpaceToDepth", SpaceToDepth},
      {"Tile", Tile},
      {"Transpose", Transpose},
      {"Trilu", Trilu},
  };
  return operators;
}

}  // namespace bayloom::graph
