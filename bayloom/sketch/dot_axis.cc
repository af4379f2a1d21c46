// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "bayloom/sketch/analysis.h"
#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::sketch {
namespace {

/// Whether the iterator's neighbouring values read neighbouring elements, or will: constants are
/// stored in the order in which they are read.
bool ReadsNeighbours(const tensor::Program& program, const tensor::Block& block,
                     const tensor::Expr& load, int iter) {
  if (program.buffers[load->index].role == tensor::BufferRole::kConstant) return true;
  const auto form = tensor::ToLinear(load->operands.back(), static_cast<int>(block.iters.size()));
  return form && form->coefficients[iter] == 1;
}

/// Larger is better. What is the same in all lanes matters most: its elements are read as one.
int RateAxis(const tensor::Program& program, const tensor::Block& block,
             const tensor::DotProduct& product, int iter) {
  int rate = 0;
  for (const tensor::DotFactor* factor : {&product.a, &product.b}) {
    const bool in_lanes = Mentions(factor->load, LastSpatialIter(block));
    if (ReadsNeighbours(program, block, factor->load, iter)) rate += in_lanes ? 1 : 2;
  }
  return rate;
}

/// Whether elements that one load would read, or floats, are chosen one by one along the iterator.
bool TearsApart(const tensor::Program& program, const tensor::Block& block,
                const tensor::DotProduct& product, int iter) {
  return std::ranges::any_of(
      std::array{&product.a, &product.b}, [&](const tensor::DotFactor* factor) {
        return factor->condition.defined() && Mentions(factor->condition, iter) &&
               (tensor::IsFloat(factor->dtype()) ||
                ReadsNeighbours(program, block, factor->load, iter));
      });
}

/// The iterator of several sums in different rows, that is, not of neighbouring lanes, that share
/// the elements of one factor: those are what an instruction for matrices multiplies them by. -1 if
/// there is none.
int FindRows(const tensor::Block& block, const tensor::DotProduct& product) {
  for (int i = LastSpatialIter(block) - 1; i >= 0; --i) {
    if (block.iters[i].kind != tensor::IterKind::kSpatial || block.iters[i].extent == 1) continue;
    if (Mentions(product.a.load, i) != Mentions(product.b.load, i)) return i;
  }
  return -1;
}

}  // namespace

std::optional<DotAxis> FindDotAxis(const tensor::Program& program, tensor::BlockId id,
                                   const target::Target& target) {
  const tensor::Block& block = program.blocks[id];
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  if (!product) return std::nullopt;
  const std::string a = tensor::ToString(product->a.dtype());
  const std::string b = tensor::ToString(product->b.dtype());
  if (!target::DotMethodFor(target, a, b)) return std::nullopt;
  std::optional<DotAxis> best;
  int best_rate = -1;
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    if (block.iters[i].extent % product->depth() != 0 || !product->SumsAlong(i)) continue;
    const int rate = RateAxis(program, block, *product, i);
    if (TearsApart(program, block, *product, i) || rate <= best_rate) continue;
    best = DotAxis{i, product->depth()};
    best_rate = rate;
  }
  if (best && product->IsPlain() && block.iters[best->iter].extent % product->matrix_depth() == 0 &&
      target::MatrixInstructionFor(target, a, b) != nullptr) {
    best->rows = FindRows(block, *product);
    if (best->rows >= 0) best->depth = product->matrix_depth();
  }
  return best;
}

}  // namespace bayloom::sketch
