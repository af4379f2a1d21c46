// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// A digit: the unit loops are made of. A loop iterates over one or more digits in mixed radix,
/// the first digit being the slowest. Splitting replaces a digit by a product of smaller ones,
/// fusing concatenates the digits of two loops; so every iterator of a block stays an affine
/// function of digits and no division or remainder ever enters an index.
///
/// The first digits of a program are its sizes, in the order of its buffers: they belong to no loop
/// and have one value in a run, so that an index or a condition may be affine in sizes, too.
using DigitId = int;
using LoopId = int;
using BlockId = int;

/// constant + sum of coefficient * digit, sorted by digit, no zero coefficients.
struct Affine {
  struct Term {
    DigitId digit;
    int64_t coefficient;
    bool operator==(const Term&) const = default;
  };
  int64_t constant = 0;
  std::vector<Term> terms;

  int64_t CoefficientOf(DigitId digit) const;
  void Add(DigitId digit, int64_t coefficient);
  void Add(const Affine& other, int64_t scale = 1);
  bool operator==(const Affine&) const = default;
};

/// A child in the loop tree: a loop or a block.
struct NodeRef {
  enum class Kind : uint8_t { kRoot, kLoop, kBlock };
  Kind kind = Kind::kRoot;
  int id = -1;
  static NodeRef Root() { return {}; }
  static NodeRef Loop(LoopId id) { return {Kind::kLoop, id}; }
  static NodeRef Block(BlockId id) { return {Kind::kBlock, id}; }
  bool is_loop() const { return kind == Kind::kLoop; }
  bool is_block() const { return kind == Kind::kBlock; }
  bool operator==(const NodeRef&) const = default;
};

enum class LoopKind : uint8_t {
  kSerial,
  kParallel,    ///< iterations run on the thread pool
  kVectorized,  ///< all iterations at once, in vector registers
  kUnrolled,
  kBlockX,
  kBlockY,
  kBlockZ,  ///< bound to blockIdx (accelerators)
  kThreadX,
  kThreadY,
  kThreadZ,  ///< bound to threadIdx (accelerators)
  kVirtualThread,
  kTensorized,  ///< an instruction sums up the products of all iterations, where there is one
  /// Iterations are distributed to all threads of a block of threads (accelerators), as many as
  /// there are: typically a copy into shared memory.
  kCooperative,
  /// Iterations are distributed to blocks of threads and to the threads of each (accelerators), as
  /// many as there are: nests without reuse.
  kGridThread,
  /// A reduction whose iterations threads of a block share; what they get is combined at the end
  /// (accelerators).
  kThreadReduce,
};

/// Whether the iterations may depend on each other.
constexpr bool RunsInOrder(LoopKind kind) {
  return kind == LoopKind::kSerial || kind == LoopKind::kUnrolled ||
         kind == LoopKind::kTensorized || kind == LoopKind::kThreadReduce;
}

/// The loop's iterations are blocks of threads.
constexpr bool IsBlockIndex(LoopKind kind) {
  return kind == LoopKind::kBlockX || kind == LoopKind::kBlockY || kind == LoopKind::kBlockZ;
}

/// The loop's iterations are the threads of a block.
constexpr bool IsThreadIndex(LoopKind kind) {
  return kind == LoopKind::kThreadX || kind == LoopKind::kThreadY || kind == LoopKind::kThreadZ;
}

/// One loop of the tree.
struct Loop {
  std::vector<DigitId> digits;  ///< slowest first; never empty
  LoopKind kind = LoopKind::kSerial;
  NodeRef parent;
  std::vector<NodeRef> body;
  /// Annotation "auto_unroll": unroll the nest below while its steps stay within this (0: no).
  int64_t unroll_max_step = 0;
  /// Of kCooperative, kGridThread and kThreadReduce: how many threads share the iterations (0: as
  /// code generation likes).
  int64_t threads = 0;
  bool alive = true;
};

/// What part of a reduction a block performs.
enum class BlockKind : uint8_t {
  kPlain,   ///< no reduction axes: stores `value`
  kReduce,  ///< initializes when all reduction iterators are 0, then combines `value` into it
  kInit,    ///< stores the neutral element: split off a reduction by DecomposeReduction
  kUpdate,  ///< combines only; its kInit block has run before
  kCall,    ///< calls a library kernel, `value`, for the whole output; in no loop
};

/// A computation at a leaf of the loop tree, isolated from how it is iterated: `value` and
/// `output_index` speak of the block's own iterators, `bindings` say what those are in terms of
/// the digits of the enclosing loops.
struct Block {
  std::string name;
  BlockKind kind = BlockKind::kPlain;
  std::vector<Iter> iters;
  std::vector<Affine> bindings;  ///< one per iterator
  BufferId output = -1;
  std::vector<Expr> output_index;  ///< linear in the iterators
  Expr value;
  Reduction reduction = Reduction::kNone;
  NodeRef parent;
  /// The loops around run over more than the iterators have: where one is not within its extent,
  /// nothing is done. Plain blocks only.
  bool guarded = false;
  /// Rules leave hints here for later steps, e.g. "parallel" (jobs), "vectorize" (elements),
  /// "unroll" (steps).
  std::map<std::string, int64_t> annotations;
  bool alive = true;
};

/// A tensor program: a tree of loops with blocks at its leaves, run in order.
///
/// Invariants, kept by every primitive:
///  - each live digit but those of sizes belongs to exactly one live loop;
///  - a block's bindings use only digits of the loops around it;
///  - within a block's bindings the digits cover each iterator's range (a guarded block's more than
///    that), every point at least once; reduction iterators exactly once for each point of the
///    spatial ones per execution of the loops that the bindings use;
///  - a buffer is completely written (where it is read) before it is read.
///
/// Ids of loops, blocks and digits are never reused, so they stay valid while the node lives.
struct Program {
  std::string name;
  std::vector<Buffer> buffers;  ///< the workload's buffers keep their ids; caches come after
  std::vector<Loop> loops;
  std::vector<Block> blocks;
  std::vector<int64_t> digit_extents;
  std::vector<NodeRef> roots;
  std::vector<std::vector<int64_t>> points;  ///< the workload's
  bool has_cold_constants = false;           ///< as the workload

  const std::vector<NodeRef>& BodyOf(NodeRef node) const;
  std::vector<NodeRef>& BodyOf(NodeRef node);
  NodeRef ParentOf(NodeRef node) const;
  int64_t ExtentOf(LoopId loop) const;
  /// The loops around a node, outermost first.
  std::vector<LoopId> LoopsAround(NodeRef node) const;
  /// Live blocks below a node, in execution order.
  std::vector<BlockId> BlocksBelow(NodeRef node) const;
  std::vector<BlockId> BlocksInOrder() const { return BlocksBelow(NodeRef::Root()); }
  /// How many of the buffers are sizes: the first buffers, and the first digits.
  int SizeCount() const;
  /// The live block of that name, or -1.
  BlockId FindBlock(const std::string& name) const;
  /// Live block that is no kInit writing the buffer, or -1.
  BlockId WriterOf(BufferId buffer) const;
  /// Live blocks whose value loads the buffer, in execution order.
  std::vector<BlockId> ReadersOf(BufferId buffer) const;
  /// As Workload::Parameters.
  std::vector<BufferId> Parameters() const;

  /// Equal for programs that do the same in the same order, blind to names and ids: two
  /// candidates are the same iff their programs hash the same.
  uint64_t StructuralHash() const;
};

/// The naive program: stages in order, one loop per iterator, reductions innermost; calls of the
/// library without loops.
Program Lower(const Workload& workload);

/// Checks the invariants; used by tests and after postprocessing.
Status Validate(const Program& program);

/// The program as a readable loop nest. Loops of one iteration that no index mentions are left
/// out.
std::string Print(const Program& program);
std::string Print(const Workload& workload);
/// An expression with the given iterator and buffer names.
std::string Print(const Expr& e, const std::vector<Iter>& iters,
                  const std::vector<Buffer>& buffers);

}  // namespace bayloom::tensor
