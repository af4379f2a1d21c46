#include "bayloom/sketch/postprocess/postprocess.h"

namespace bayloom {

Status Postprocess(Program& program, const Target& target) {
  RewriteLayouts(program);
  RemoveUnitLoops(program);
  VectorizeInnerLoops(program, target);
  ParallelizeOuterLoops(program);
  DecomposeReductions(program);
  AnnotateUnrolling(program);
  return VerifyLimits(program, target);
}

}  // namespace bayloom
