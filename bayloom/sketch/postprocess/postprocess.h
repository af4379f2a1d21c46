// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/result.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"

namespace bayloom::sketch {

/// Finishes a replayed program for the target: runs all passes below in order. What a pass does
/// is a function of the program alone, so it is no part of the trace. A refusal makes the
/// candidate infeasible.
Status Postprocess(tensor::Program& program, const target::Target& target);

// One pass per file, in the order they run.

/// Removes loops of extent 1 (the tiling's trivial factors).
void RemoveUnitLoops(tensor::Program& program);
/// Stores constants, and copies annotated `packed`, in the order their reader visits them.
void RewriteLayouts(tensor::Program& program);
/// Splits loops where a kPlain block's indices are their quotients or remainders, so that none are
/// left to compute: nearest-neighbour resizing, interleaved parts.
void SplitDividedIterators(tensor::Program& program);
/// Vectorizes the innermost loops of every block that walk all its buffers contiguously. Of copies
/// and elementwise computations that read in another order than they write (transpositions,
/// repeated elements) it vectorizes those that write contiguously.
void VectorizeInnerLoops(tensor::Program& program, const target::Target& target);
/// Fuses and parallelizes the outermost loops of every root nest until there are enough jobs.
void ParallelizeOuterLoops(tensor::Program& program);
/// Splits every reduction's initialization off at its outermost reduction loop.
void DecomposeReductions(tensor::Program& program);
/// Hands the unroll annotation to the loop nests.
void AnnotateUnrolling(tensor::Program& program);
/// Refuses what cannot be built: workspaces beyond the limit, excessive straight-line code.
Status VerifyLimits(const tensor::Program& program, const target::Target& target);

// Parts of VectorizeInnerLoops.

/// The part of a loop of that extent that is vectorized: a whole number of registers of `lanes`
/// elements, at most kMaxVectorExtent elements; 0 where the loop is short enough, or better left in
/// one piece.
int64_t VectorFactor(int64_t extent, int64_t lanes);
/// Vectorizes the loops along which a kPlain block writes contiguously, and puts the loop along
/// which it reads contiguously directly around them. False, and the program is as it was, if the
/// block is of another kind or the loops cannot be moved.
bool VectorizeCopy(tensor::Program& program, tensor::BlockId block, int64_t lanes);

}  // namespace bayloom::sketch
