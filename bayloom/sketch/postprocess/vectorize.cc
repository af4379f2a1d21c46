// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <set>

#include "bayloom/sketch/postprocess/access_places.h"
#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

/// The tensorized loop around a block; -1 if there is none.
tensor::LoopId TensorizedAround(const tensor::Program& program, tensor::BlockId block) {
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    if (program.loops[loop].kind == tensor::LoopKind::kTensorized) return loop;
  }
  return -1;
}

/// A place in memory, and the elements that are taken from there: more than one where an
/// instruction sums up neighbours.
struct Offset {
  tensor::Affine place;
  int64_t elements = 1;
  std::set<tensor::DigitId> unknown = {};  ///< with which it changes in a way that is not known
};

/// Where a block's access is; nullopt if that is not to be told.
std::optional<Offset> OffsetOf(const tensor::Program& program, AccessPlaces& places,
                               const tensor::Block& block, tensor::BufferId buffer,
                               const std::vector<tensor::Expr>& indices) {
  Offset offset;
  tensor::Access access{buffer, false, {}};
  for (const tensor::Expr& index : indices) {
    access.indices.push_back(tensor::ComposeIndex(index, block.bindings));
    if (access.indices.back()) continue;
    const auto dimension = static_cast<int>(access.indices.size()) - 1;
    const std::vector<tensor::LayoutAxis>& layout = program.buffers[buffer].layout;
    const bool is_cut = std::ranges::count(layout, dimension, &tensor::LayoutAxis::dimension) > 1;
    if (is_cut) return std::nullopt;
    access.indices.back() = tensor::Affine{};
    tensor::Visit(index, [&](const tensor::Expr& part) {
      if (part->op != tensor::ExprOp::kIter) return;
      for (const auto& term : block.bindings[part->index].terms) offset.unknown.insert(term.digit);
    });
  }
  std::optional<tensor::Affine> place = places.Of(access);
  if (!place) return std::nullopt;
  offset.place = *std::move(place);
  return offset;
}

/// Memory offsets of all accesses of a block; nullopt when one of them is not to be told.
std::optional<std::vector<Offset>> OffsetsOf(const tensor::Program& program, tensor::BlockId id) {
  const tensor::Block& block = program.blocks[id];
  AccessPlaces places(program);
  std::vector<std::optional<Offset>> all = {
      OffsetOf(program, places, block, block.output, block.output_index)};
  if (block.kind != tensor::BlockKind::kInit) {
    tensor::Visit(block.value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad) {
        all.push_back(OffsetOf(program, places, block, e->index, e->operands));
      }
    });
  }
  std::vector<Offset> offsets;
  const tensor::LoopId at_once = TensorizedAround(program, id);
  for (std::optional<Offset>& offset : all) {
    if (!offset) return std::nullopt;
    if (at_once >= 0 && offset->place.CoefficientOf(tensor::OnlyDigit(program, at_once)) == 1) {
      offset->elements = program.ExtentOf(at_once);
    }
    offsets.push_back(*std::move(offset));
  }
  return offsets;
}

/// Whether stepping through the digits (slowest first) moves every access by what it takes a step,
/// or not at all.
bool IsContiguous(const tensor::Program& program, const std::vector<tensor::DigitId>& digits,
                  const std::vector<Offset>& offsets) {
  for (const Offset& offset : offsets) {
    int64_t radix = 1;
    const int64_t step = offset.place.CoefficientOf(digits.back());
    if (step != 0 && step != offset.elements) return false;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      if (offset.unknown.contains(*digit)) return false;
      if (offset.place.CoefficientOf(*digit) != step * radix) return false;
      radix *= program.digit_extents[*digit];
    }
  }
  return true;
}

void VectorizeBlock(tensor::Program& program, tensor::BlockId block, int64_t lanes) {
  const std::optional<std::vector<Offset>> offsets = OffsetsOf(program, block);
  if (!offsets) return;
  const std::vector<tensor::LoopId> around = program.LoopsAround(tensor::NodeRef::Block(block));
  std::vector<tensor::LoopId> chain;  // outermost first
  std::vector<tensor::DigitId> digits;
  int64_t extent = 1;
  for (auto loop = around.rbegin(); loop != around.rend(); ++loop) {
    if (extent >= kMaxVectorExtent || program.loops[*loop].body.size() != 1) break;
    if (program.loops[*loop].kind != tensor::LoopKind::kSerial ||
        !tensor::CheckParallel(program, *loop))
      break;
    std::vector<tensor::DigitId> longer = program.loops[*loop].digits;
    longer.insert(longer.end(), digits.begin(), digits.end());
    if (!IsContiguous(program, longer, *offsets)) break;
    digits = std::move(longer);
    extent *= program.ExtentOf(*loop);
    chain.insert(chain.begin(), *loop);
  }
  if (extent < lanes && VectorizeCopy(program, block, lanes)) return;
  if (chain.empty()) return;
  tensor::LoopId innermost = chain.back();
  if (chain.size() > 1) {
    Result<tensor::LoopId> fused = tensor::Fuse(program, chain);
    if (fused) innermost = *fused;
  }
  const int64_t factor = VectorFactor(program.ExtentOf(innermost), lanes);
  if (factor > 1) {
    const int64_t factors[] = {-1, factor};
    Result<std::vector<tensor::LoopId>> split = tensor::Split(program, innermost, factors);
    if (split) innermost = split->back();
  }
  (void)tensor::Vectorize(program, innermost);
}

}  // namespace

void VectorizeInnerLoops(tensor::Program& program, const target::Target& target) {
  for (tensor::BlockId block : program.BlocksInOrder()) {
    if (program.blocks[block].kind == tensor::BlockKind::kCall) continue;
    const int64_t lanes =
        target.vector_bytes / tensor::ByteSize(program.buffers[program.blocks[block].output].dtype);
    VectorizeBlock(program, block, std::max<int64_t>(lanes, 1));
  }
}

}  // namespace bayloom::sketch
