// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/postprocess/postprocess.h"

namespace bayloom::sketch {

Status Postprocess(tensor::Program& program, const target::Target& target) {
  RewriteLayouts(program);
  RemoveUnitLoops(program);
  SplitDividedIterators(program);
  VectorizeInnerLoops(program, target);
  ParallelizeOuterLoops(program);
  DecomposeReductions(program);
  AnnotateUnrolling(program);
  return VerifyLimits(program, target);
}

}  // namespace bayloom::sketch
