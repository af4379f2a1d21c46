// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {

void AnnotateUnrolling(tensor::Program& program) {
  int64_t max_step = 0;
  for (const tensor::Block& block : program.blocks) {
    if (!block.alive) continue;
    const auto it = block.annotations.find(kUnrollMaxStep);
    if (it != block.annotations.end()) max_step = it->second;
  }
  if (max_step == 0) return;
  for (tensor::NodeRef nest : program.roots) {
    if (nest.is_loop()) (void)tensor::AnnotateUnroll(program, nest.id, max_step);
  }
}

}  // namespace bayloom::sketch
