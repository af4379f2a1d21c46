// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Schedule primitives: each rewrites a Program into another one that computes the same thing,
/// or refuses with a reason and leaves the program as it was. One primitive per file under
/// tensor/primitives/.
///
/// They change the program in place (replaying a trace is the tuner's hot path); copy it first
/// to keep the old one: a Program is a value.

/// Tiles that cover an extent: `count` of them, each `step` after the one before.
struct OverlappingTiles {
  int64_t count;
  int64_t step;
};

/// With the largest step that is at most `tile` and makes whole tiles: extent = (count - 1) * step
/// + tile. None unless 1 <= tile <= extent.
std::optional<OverlappingTiles> FindOverlappingTiles(int64_t extent, int64_t tile);

// --- Loops -----------------------------------------------------------------------------------

/// Splits a loop into a nest of `factors.size()` loops with these extents, outermost first. The
/// product must equal the loop's extent (perfect split), and over a fused loop the factors must
/// fall on or divide its digits. One factor may be -1: it is inferred. Returns the new loops;
/// the first keeps no identity with the old one.
Result<std::vector<LoopId>> Split(Program& program, LoopId loop, std::span<const int64_t> factors);
/// Splits a spatial loop of one digit into tiles of a size that need not divide its extent: as many
/// as are needed, at equal distances of at most `tile`, the first at 0 and the last ending with the
/// loop (OverlappingTiles). Elements where two tiles overlap are computed in both. Refused where no
/// such distance makes whole tiles (only a tile of 1 always fits), and where an element computed
/// twice would change the result: a block below that reduces over a loop further out. Returns the
/// loop over the tiles and the loop within one.
Result<std::array<LoopId, 2>> SplitOverlapping(Program& program, LoopId loop, int64_t tile);
/// Fuses perfectly nested serial loops, outermost first, into one. Reduction and spatial loops
/// may not be mixed.
Result<LoopId> Fuse(Program& program, std::span<const LoopId> loops);
/// Puts loops of one perfectly nested chain into the given order; loops of the chain that are
/// not named keep their places. Reduction loops may move outside spatial ones: a kReduce block
/// decides by its own iterators when it initializes. Refused when the loops are not one chain of
/// single-child loops, or when a decomposed reduction's loops would leave its kInit's range.
Status Reorder(Program& program, std::span<const LoopId> order);
/// Marks a serial loop parallel: no block below may reduce over it, and all that is written
/// below is either private to an iteration or disjoint between iterations.
Status Parallelize(Program& program, LoopId loop);
/// Marks an innermost-body loop vectorized; same legality as Parallelize, plus: no loop below
/// it other than vectorized ones, and no guarded block.
Status Vectorize(Program& program, LoopId loop);
Status Unroll(Program& program, LoopId loop);
/// Asks that the nest below the loop be unrolled while it stays within max_step steps.
Status AnnotateUnroll(Program& program, LoopId loop, int64_t max_step);
/// Gives a loop to the blocks and threads of an accelerator. The program keeps its sequential
/// meaning; what the marks stand for is realized by code generation.
///
///   kBlockX ... kThreadZ   one iteration, one block or thread; legality as Parallelize
///   kGridThread            the outermost loop of a nest, distributed to all threads of all blocks
///   kCooperative           distributed to all threads of a block. Around it may be loops over
///   threads:
///                          then every thread of the sequential program does all of it, and it must
///                          be the same for all: blocks that fill shared memory from what no loop
///                          over threads around writes.
///   kThreadReduce          a reduction distributed to `threads` threads: one block below that
///   reduces
///                          over the loop, and over all other loops below
///
/// `threads` is for the last three (Loop::threads): 0, or at most 1,024; for kThreadReduce a power
/// of two or a multiple of 32.
Status Bind(Program& program, LoopId loop, LoopKind kind, int64_t threads = 0);
/// Marks a serial loop whose products of narrow elements an instruction sums up at once: the
/// fastest part of one reduction axis of a dot product (dot_product.h), as long as the
/// depth of an instruction. Below it there may be spatial loops only; the vectorized one among them
/// becomes the instruction's lanes. A target that lacks the instruction runs the loop as it is.
Status Tensorize(Program& program, LoopId loop);

// --- Blocks ----------------------------------------------------------------------------------

Status Annotate(Program& program, BlockId block, const std::string& key, int64_t value);
/// Removes a kPlain block by substituting its value into every reader. Refused for outputs, for
/// blocks whose buffer is also read by themselves, and where a reader's value would cost more than
/// kMaxInlinedCost (evaluation_cost.h).
Status ComputeInline(Program& program, BlockId block);
/// Removes an elementwise consumer by folding it into its only producer: the producer (kPlain)
/// stores the consumer's value. Refused when the producer's result has another reader or the
/// consumer reads it at anything but its own indices (a permutation of them is fine).
Status ReverseComputeInline(Program& program, BlockId block);
/// Moves a producer under `loop` of its consumers: its nest is regenerated to compute just the
/// region that the readers below `loop` need per iteration. All readers must be below `loop` (or
/// the loop kRoot: `loop` = -1 moves the block back to the root level before its first reader,
/// with its full range). Refused for outputs, when the needed region cannot be bounded by affine
/// arithmetic or proved in range, or when the block reduces and is already decomposed. It cannot
/// leave a loop in which one of its own producers is computed. Placed before the first child of
/// `loop` that reads it.
Status ComputeAt(Program& program, BlockId block, LoopId loop);
/// Moves an elementwise consumer, or a reduction of what it reads element by element, under `loop`
/// of its producer: its nest is regenerated to cover just the region the producer completes per
/// iteration of `loop`, one loop per iterator. A reduction must find all that it reduces there. All
/// blocks the consumer reads and that are written in the program must be complete there; a padded
/// product (PadProduct) may complete more than the consumer has, which is then guarded; the
/// loops of a reduction that the block consumes must be below `loop`. A block only moves inwards:
/// it never leaves a loop that it shares with a producer or a reader.
Status ReverseComputeAt(Program& program, BlockId block, LoopId loop);
/// Loops under which ComputeAt(block, loop) is legal, outermost first, leaving out loops of
/// extent 1. MetaSchedule's candidate rule: loops around the first reader down to the readers'
/// common ancestor, without spatial loops below a reduction loop and without trailing reduction
/// loops.
std::vector<LoopId> ComputeLocations(const Program& program, BlockId block);

/// Makes `block` read a copy of `buffer`: a new root-level block "<buffer>.<scope>" copies the
/// whole buffer (place it with ComputeAt). Returns the copying block.
Result<BlockId> CacheRead(Program& program, BlockId block, BufferId buffer, StorageScope scope);
/// Makes `block` write a copy of its output: a new block right after it copies the copy back.
/// Readers and callers still see the old buffer. Returns the copying block.
Result<BlockId> CacheWrite(Program& program, BlockId block, StorageScope scope);
/// Factors one reduction loop out of a kReduce block: a new block "<name>_rf" computes, into a
/// new buffer with one leading dimension per digit of the loop, the partial result of every
/// iteration of `loop`; the old block then reduces over those, in a nest of one loop per spatial
/// iterator and one loop over the partial results. Returns the new (rf) block. Only for a block
/// alone in its nest, all of whose loops bind digits one to one.
Result<BlockId> RFactor(Program& program, BlockId block, LoopId loop);
/// Splits a kReduce block's initialization into a kInit block whose nest (the spatial loops
/// below `loop`) is placed directly before `loop`, leaving kUpdate. `loop` must be around the
/// block, and no reduction loop of the block may be outside it. Returns the kInit block.
Result<BlockId> DecomposeReduction(Program& program, BlockId block, LoopId loop);
/// Stores a constant input, or a cache made by CacheRead and read by one block only, in the order
/// in which its only reader visits it: each dimension is cut at the digits of the reader's loops
/// and the pieces are laid out by loop depth, except that the piece of the row-major innermost
/// dimension which is contiguous now stays innermost, but for the digit of a tensorized loop: its
/// elements are next to each other. The copying block's own nest is rebuilt to
/// walk the new layout. Refused when the reader's index is not a plain mixed-radix number of
/// digits.
Status RewriteLayout(Program& program, BufferId buffer);
/// Lets a sum of products run over as many iterations as `extents` says, one number for each
/// iterator, at least those that it has: for instructions that take whole tiles. Where that reads
/// beyond a buffer, the block reads a larger copy of it, zeros behind the elements, from a block of
/// its own in front ("<buffer>.padded"). The output grows, too; its readers read the part that they
/// read before, and are guarded (Block::guarded) where ReverseComputeAt moves them under loops of
/// the product. Returns the blocks that copy.
///
/// Refused for outputs of the program, for blocks whose loops have been changed, and for a padded
/// reduction over anything else than a dimension of both factors, where a product of zero and what
/// happens to be in memory might not be zero.
Result<std::vector<BlockId>> PadProduct(Program& program, BlockId block,
                                        std::span<const int64_t> extents);
/// What PadProduct leaves on the block.
inline constexpr char kPaddedProduct[] = "padded_product";
/// Changes where a buffer lives.
Status SetScope(Program& program, BufferId buffer, StorageScope scope);

// --- Derivations -----------------------------------------------------------------------------

/// The largest error over the largest output that a derivation may be expected to have.
inline constexpr double kMaxDerivationError = 1e-4;

/// Computes a convolution by Winograd's minimal filtering F(tile x tile, 3 x 3) (Lavin and Gray
/// 2016): 2.25 times less products than by its definition for tiles of 2, 4 times for 4, 5 times
/// for
/// 6. The block is replaced by blocks, each in a nest of its own: the image extended to whole tiles
/// (`_image`), its tiles transformed by rows (`_rows`) and by columns (`_tiles`), their products
/// with the transformed weights (`_products`), those combined by rows (`_sums`) and by columns
/// (`_outputs`), and the copy of what is needed of that (`_crop`); first and last only where the
/// output is not made of whole tiles. The weights, a constant that nothing else may read, become
/// a transformed constant (Buffer::transform). Returns the blocks in that order.
///
/// For float32 images with channels last, stride and dilation 1, kernels of 3 x 3, no groups, and
/// expected errors up to kMaxDerivationError.
Result<std::vector<BlockId>> Winograd(Program& program, BlockId block, int64_t tile);

/// The largest error over the largest output to expect of the derivations that can compute a block
/// of the workload; 0 if none can.
double DerivationError(const Workload& workload);
/// The same of those that the program is made by. That of sums one after the other: generated code
/// adds up shorter ones.
double DerivationError(const Program& program);

}  // namespace bayloom::tensor
