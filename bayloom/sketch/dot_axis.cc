// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

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

int LastSpatial(const tensor::Block& block) {
  int last = -1;
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind == tensor::IterKind::kSpatial) last = i;
  }
  return last;
}

/// Larger is better. What is the same in all lanes matters most: its elements are read as one.
int RateAxis(const tensor::Program& program, const tensor::Block& block,
             const tensor::DotProduct& product, int iter) {
  int rate = 0;
  for (const tensor::DotFactor* factor : {&product.a, &product.b}) {
    const bool in_lanes = Mentions(factor->load, LastSpatial(block));
    if (ReadsNeighbours(program, block, factor->load, iter)) rate += in_lanes ? 1 : 2;
  }
  return rate;
}

}  // namespace

std::optional<DotAxis> FindDotAxis(const tensor::Program& program, tensor::BlockId id,
                                   const target::Target& target) {
  const tensor::Block& block = program.blocks[id];
  const std::optional<tensor::DotProduct> product = tensor::MatchDotProduct(block);
  if (!product || !target::DotMethodFor(target, tensor::ToString(product->a.dtype()),
                                        tensor::ToString(product->b.dtype()))) {
    return std::nullopt;
  }
  std::optional<DotAxis> best;
  int best_rate = -1;
  for (int i = 0; i < static_cast<int>(block.iters.size()); ++i) {
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    if (block.iters[i].extent % product->depth() != 0) continue;
    bool decides = false;
    for (const tensor::DotFactor* factor : {&product->a, &product->b}) {
      decides = decides || (factor->condition.defined() && Mentions(factor->condition, i));
    }
    const int rate = RateAxis(program, block, *product, i);
    if (decides || rate <= best_rate) continue;
    best = DotAxis{i, product->depth()};
    best_rate = rate;
  }
  return best;
}

}  // namespace bayloom::sketch
