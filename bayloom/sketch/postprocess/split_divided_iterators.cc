// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/tensor/primitives/split_iterator.h"

namespace bayloom::sketch {
namespace {

/// By what the iterator is divided, everywhere; 1 if it is not, or by several numbers.
int64_t DivisorOf(const tensor::Expr& value, int iter) {
  int64_t divisor = 1;
  bool several = false;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kFloorDiv && e->op != tensor::ExprOp::kFloorMod) return;
    const tensor::Expr &of = e->operands[0], &by = e->operands[1];
    if (of->op != tensor::ExprOp::kIter || of->index != iter) return;
    if (by->op != tensor::ExprOp::kInt || by->int_value < 1) return;
    several = several || (divisor > 1 && by->int_value != divisor);
    divisor = by->int_value;
  });
  return several ? 1 : divisor;
}

}  // namespace

void SplitDividedIterators(tensor::Program& program) {
  for (tensor::BlockId id : program.BlocksInOrder()) {
    if (program.blocks[id].kind != tensor::BlockKind::kPlain) continue;
    const int iters = static_cast<int>(program.blocks[id].iters.size());
    for (int iter = 0; iter < iters; ++iter) {
      const int64_t divisor = DivisorOf(program.blocks[id].value, iter);
      if (divisor > 1) (void)tensor::SplitIterator(program, id, iter, divisor);
    }
  }
}

}  // namespace bayloom::sketch
