// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/elementwise.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// A producer below the loop whose finished part decides what the consumer computes there.
struct Leader {
  BlockId block;
  std::vector<Affine> index;       ///< of its output, in digits
  std::vector<int> consumer_iter;  ///< per dimension; -1 for a constant
};

/// True if the index reaches each of `extent` elements just once, or once in each tile that
/// overlaps with others and is computed as a whole within one iteration of the outer loops.
bool ReachesAll(const Program& program, const Affine& index, int64_t extent,
                const DigitMask& outer) {
  if (index.constant != 0) return false;
  std::vector<Affine::Term> inner = index.terms;
  std::erase_if(inner, [&](const Affine::Term& term) { return outer[term.digit]; });
  int64_t last = 0;
  for (const Affine::Term& term : index.terms) {
    if (term.coefficient < 0) return false;
    last += term.coefficient * (program.digit_extents[term.digit] - 1);
  }
  return last == extent - 1 && IsDense(program, index.terms) &&
         (IsMixedRadix(program, index.terms) || IsMixedRadix(program, inner));
}

/// Every iteration of the loops around the producer, reductions aside, writes an element of its
/// own (where tiles overlap, of its tile), and together they write all of the buffer.
Status CheckWritesEachElementOnce(const Program& program, const Leader& leader,
                                  const DigitMask& outer) {
  const Block& block = program.blocks[leader.block];
  const Buffer& buffer = program.buffers[block.output];
  std::vector<DigitId> used;
  for (size_t d = 0; d < leader.index.size(); ++d) {
    const Affine& index = leader.index[d];
    for (const Affine::Term& term : index.terms) {
      if (program.digit_extents[term.digit] > 1) used.push_back(term.digit);
    }
    if (!ReachesAll(program, index, buffer.shape[d], outer)) {
      return Error{
          fmt::format("{} does not write each element of {} just once", block.name, buffer.name)};
    }
  }
  for (LoopId loop : program.LoopsAround(NodeRef::Block(leader.block))) {
    for (DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] == 1 || ReducesOver(program, block, {digit})) continue;
      if (std::count(used.begin(), used.end(), digit) != 1) {
        return Error{
            fmt::format("{} does not write each element of {} just once", block.name, buffer.name)};
      }
    }
  }
  return Ok();
}

Result<Leader> MakeLeader(const Program& program, const Block& consumer, BlockId producer_id,
                          const DigitMask& outer) {
  const Block& producer = program.blocks[producer_id];
  const Buffer& buffer = program.buffers[producer.output];
  Result<std::vector<int>> iters = ElementwiseIters(program, consumer, producer.output);
  if (!iters) return iters.error();
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    const bool padded = producer.annotations.contains(kPaddedProduct);
    const int64_t read = (*iters)[d] >= 0 ? consumer.iters[(*iters)[d]].extent : buffer.shape[d];
    if (padded ? read > buffer.shape[d] : read != buffer.shape[d]) {
      return Error{fmt::format("{} reads only a part of {}", consumer.name, buffer.name)};
    }
  }
  Leader leader{producer_id, {}, *std::move(iters)};
  for (const Expr& expr : producer.output_index) {
    std::optional<Affine> index = ComposeIndex(expr, producer.bindings);
    if (!index)
      return Error{fmt::format("{} writes at an index that is not linear", producer.name)};
    leader.index.push_back(*std::move(index));
  }
  if (Status s = CheckWritesEachElementOnce(program, leader, outer); !s) return s.error();
  for (size_t i = 0; i < producer.iters.size(); ++i) {
    if (producer.iters[i].kind == IterKind::kSpatial) continue;
    for (const Affine::Term& term : producer.bindings[i].terms) {
      if (!outer[term.digit] || program.digit_extents[term.digit] == 1) continue;
      return Error{fmt::format("{} is not complete there: it reduces over a loop further out",
                               producer.name)};
    }
  }
  return leader;
}

/// The consumer's iterator follows the producer's index: digits of outer loops are given, the
/// others become fresh ones, neighbours merged.
Placement::NewIter FollowIndex(const Program& program, const Affine& index,
                               const DigitMask& outer) {
  Placement::NewIter iter;
  std::vector<Affine::Term> inner;
  for (const Affine::Term& term : index.terms) {
    if (program.digit_extents[term.digit] == 1) continue;
    if (outer[term.digit]) {
      iter.base.Add(term.digit, term.coefficient);
    } else {
      inner.push_back(term);
    }
  }
  std::sort(inner.begin(), inner.end(), [](const Affine::Term& a, const Affine::Term& b) {
    return a.coefficient > b.coefficient;
  });
  for (const Affine::Term& term : inner) {
    const int64_t extent = program.digit_extents[term.digit];
    if (!iter.digits.empty() && iter.digits.back().stride == term.coefficient * extent) {
      iter.digits.back() = {iter.digits.back().extent * extent, term.coefficient};
    } else {
      iter.digits.push_back({extent, term.coefficient});
    }
  }
  return iter;
}

/// After the last child of the loop that writes something the block reads.
Result<Place> PlaceAfterProducers(const Program& program, const Block& block, LoopId loop) {
  Place place{NodeRef::Loop(loop), 0};
  for (BufferId buffer : BuffersReadBy(block)) {
    const BlockId writer = program.WriterOf(buffer);
    if (writer < 0 || !IsBelow(program, NodeRef::Block(writer), place.parent)) continue;
    const NodeRef child = ChildTowards(program, place.parent, NodeRef::Block(writer));
    place.index = std::max(place.index, IndexInParent(program, child) + 1);
  }
  if (place.index == 0) {
    return Error{fmt::format("{} reads nothing that is computed under loop {}", block.name, loop)};
  }
  return place;
}

/// The block must not leave a loop that it shares with a producer or a reader: the buffer between
/// them would have to outlive the iterations that it is private to.
Status CheckMovesInwards(const Program& program, BlockId id, LoopId loop) {
  const Block& block = program.blocks[id];
  std::vector<BlockId> partners = program.ReadersOf(block.output);
  for (BufferId buffer : BuffersReadBy(block)) {
    if (const BlockId writer = program.WriterOf(buffer); writer >= 0) partners.push_back(writer);
  }
  for (BlockId partner : partners) {
    const NodeRef shared = CommonAncestor(program, NodeRef::Block(id), NodeRef::Block(partner));
    if (IsBelow(program, NodeRef::Loop(loop), shared)) continue;
    return Error{fmt::format("{} cannot leave the loop that {} is computed in with it", block.name,
                             program.blocks[partner].name)};
  }
  return Ok();
}

Result<Leader> FindLeader(const Program& program, const Block& block, LoopId loop,
                          const DigitMask& outer) {
  Result<Leader> leader = Error{"no producer"};
  for (BufferId buffer : BuffersReadBy(block)) {
    const BlockId writer = program.WriterOf(buffer);
    if (writer < 0 || !IsBelow(program, NodeRef::Block(writer), NodeRef::Loop(loop))) continue;
    leader = MakeLeader(program, block, writer, outer);
    if (leader) break;
  }
  return leader;
}

/// Whether the loops around reach further than an iterator's range.
bool ExceedsIterators(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  const std::vector<bool> all(program.digit_extents.size(), true);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (RangeOf(program, block.bindings[i], all).max >= block.iters[i].extent) return true;
  }
  return false;
}

Result<Placement> PlanReverseComputeAt(const Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckBlock(program, id); !s) return s.error();
  if (Status s = CheckLoop(program, loop); !s) return s.error();
  if (Status s = CheckMayContainLoops(program, NodeRef::Loop(loop)); !s) return s.error();
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kPlain && block.kind != BlockKind::kReduce) {
    return Error{fmt::format(
        "{} is part of a reduction: only elementwise blocks and whole reductions can be "
        "moved under a loop of their producer",
        block.name)};
  }
  if (Status s = CheckNoLayouts(program, id); !s) return s.error();
  if (Result<std::vector<int>> iters = IterOfDimension(program, block); !iters) {
    return iters.error();
  }
  Result<Place> place = PlaceAfterProducers(program, block, loop);
  if (!place) return place.error();
  const DigitMask outer = DigitsAround(program, NodeRef::Loop(loop));
  const Result<Leader> leader = FindLeader(program, block, loop, outer);
  if (!leader) return leader.error();
  const bool is_padded = program.blocks[leader->block].annotations.contains(kPaddedProduct);
  if (block.kind == BlockKind::kReduce && is_padded) {
    return Error{fmt::format("{} would reduce what is computed as padding, too", block.name)};
  }

  Placement placement{*place, {}};
  for (const Iter& iter : block.iters) {
    placement.iters.push_back(IterOver({{}, 0, iter.extent - 1}));
  }
  for (size_t d = 0; d < leader->index.size(); ++d) {
    const int iter = leader->consumer_iter[d];
    if (iter < 0) continue;
    placement.iters[iter] = FollowIndex(program, leader->index[d], outer);
    if (block.iters[iter].kind == IterKind::kReduction &&
        !placement.iters[iter].base.terms.empty()) {
      return Error{fmt::format("{} would reduce over a loop further out", block.name)};
    }
  }
  const std::vector<Span> spans = SpansOf(placement);
  for (BufferId buffer : BuffersReadBy(block)) {
    if (buffer == program.blocks[leader->block].output) continue;
    if (Status s = CheckInputAvailable(program, id, buffer, spans, *place); !s) return s.error();
  }
  if (Status s = CheckMovesInwards(program, id, loop); !s) return s.error();
  return placement;
}

}  // namespace

Status ReverseComputeAt(Program& program, BlockId block, LoopId loop) {
  Result<Placement> placement = PlanReverseComputeAt(program, block, loop);
  if (!placement) return placement.error();
  MoveBlock(program, block, *placement);
  program.blocks[block].guarded = ExceedsIterators(program, block);
  return Ok();
}

}  // namespace bayloom::tensor
