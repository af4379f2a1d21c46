// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// What accesses touch in one dimension during one iteration of a place in the loop tree: all of
/// outer + [min, max], where `outer` (without constant) is affine in digits of the loops around
/// that place.
struct Span {
  Affine outer;
  int64_t min = 0;
  int64_t max = 0;
  int64_t extent() const { return max - min + 1; }
};
/// One span per dimension of a buffer, or per iterator of a block.
using Region = std::vector<Span>;

/// Marks digits of the loops around the inside of `place`: its own and those of loops above it.
using DigitMask = std::vector<bool>;
DigitMask DigitsAround(const Program& program, NodeRef place);

/// Calls visit(load node) for every load of the buffer in an expression.
template <typename Visitor>
void ForEachLoadOf(const Expr& e, BufferId buffer, const Visitor& visit) {
  if (e->op == ExprOp::kLoad && e->index == buffer) visit(*e);
  for (const Expr& operand : e->operands) ForEachLoadOf(operand, buffer, visit);
}

/// Splits an affine index into its outer part and the range of the rest.
Span SpanOf(const Program& program, const Affine& index, const DigitMask& outer);
/// The span of a linear index over iterators with the given, independent spans; nullopt if the
/// index is not linear.
std::optional<Span> SpanOverIters(const Expr& index, const std::vector<Span>& iters);
/// As seen from a place further out, whose digits are `outer`.
void Widen(const Program& program, const DigitMask& outer, Span& span);

/// What a block reads of a buffer; whole dimensions where its indices are not affine or do not
/// agree on the outer part. Clipped to the buffer where the outer part is constant.
Region ReadRegion(const Program& program, const Block& block, BufferId buffer,
                  const DigitMask& outer);
/// The same for a block whose iterators are about to get the given spans.
Region ReadRegion(const Program& program, const Block& block, BufferId buffer,
                  const std::vector<Span>& iters);
/// Makes `region` cover `other` too.
void Unite(const Buffer& buffer, const Region& other, Region& region);

/// What a block has written and finished after one iteration of a place around it, if that is a
/// box without holes: nullopt if not, or if the block reduces over a loop outside.
std::optional<Region> WrittenRegion(const Program& program, const Block& block,
                                    const DigitMask& outer);
/// True if `written` covers `needed` for all outer digits.
bool Covers(const Program& program, const Buffer& buffer, const Region& written,
            const Region& needed);

/// A place for a block: child number `index` of a loop (or the root).
struct Place {
  NodeRef parent;
  int index = 0;
};

/// Checks that a part (relative to `place`) of a buffer is written, completely and for good, before
/// what runs at `place`.
Status CheckBufferComplete(const Program& program, BufferId buffer, Region needed, Place place);

/// Checks that everything the block reads of other blocks is written, completely and for good,
/// when it runs at `place` with its iterators over the given spans (relative to `place`). The
/// block must not leave a loop that it shares with a producer: the producer's buffer would have
/// to outlive the iterations that it is private to.
Status CheckInputsAvailable(const Program& program, BlockId block, const std::vector<Span>& iters,
                            Place place);
/// The same for one of the buffers it reads.
Status CheckInputAvailable(const Program& program, BlockId block, BufferId buffer,
                           const std::vector<Span>& iters, Place place);
/// A block whose accesses follow a rewritten layout stays as it is.
Status CheckNoLayouts(const Program& program, BlockId block);

/// The buffers a block reads, each once.
std::vector<BufferId> BuffersReadBy(const Block& block);

/// For each dimension of the output the iterator that alone is its index, or -1 where the
/// dimension has extent 1 and a constant index 0. Refuses other forms of output indices, and
/// spatial iterators of extent above 1 that are in none.
Result<std::vector<int>> IterOfDimension(const Program& program, const Block& block);

}  // namespace bayloom::tensor
