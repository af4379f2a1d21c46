// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/placement.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// All loops around the block contain nothing else.
Status CheckAlone(const Program& program, BlockId id) {
  for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
    if (program.loops[loop].body.size() == 1) continue;
    return Error{fmt::format("cannot factor the reduction of {}: it is not alone in its nest",
                             program.blocks[id].name)};
  }
  return Ok();
}

/// Every digit around the block is in just one binding, and every binding is a mixed-radix number
/// that runs through the iterator once.
Status CheckBoundOneToOne(const Program& program, BlockId id) {
  const Block& block = program.blocks[id];
  const Error refusal{
      fmt::format("cannot factor the reduction of {}: its loops do not correspond "
                  "to its iterators one to one",
                  block.name)};
  std::vector<DigitId> bound;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const Affine& binding = block.bindings[i];
    int64_t count = 1;
    for (const Affine::Term& term : binding.terms) {
      const int64_t extent = program.digit_extents[term.digit];
      count *= extent;
      if (extent > 1) bound.push_back(term.digit);
    }
    if (binding.constant != 0 || count != block.iters[i].extent ||
        !IsMixedRadix(program, binding.terms)) {
      return refusal;
    }
  }
  for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
    for (DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] == 1) continue;
      if (std::count(bound.begin(), bound.end(), digit) != 1) return refusal;
    }
  }
  return Ok();
}

Status CheckFactorable(const Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckBlock(program, id); !s) return s;
  if (Status s = CheckLoop(program, loop); !s) return s;
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kReduce) {
    return Error{fmt::format("{} is not a reduction that initializes itself", block.name)};
  }
  if (!IsBelow(program, NodeRef::Block(id), NodeRef::Loop(loop))) {
    return Error{fmt::format("loop {} is not around {}", loop, block.name)};
  }
  if (program.loops[loop].kind == LoopKind::kTensorized) {
    return Error{fmt::format("cannot factor {}: loop {} is tensorized", block.name, loop)};
  }
  for (DigitId digit : program.loops[loop].digits) {
    if (program.digit_extents[digit] > 1 && !ReducesOver(program, block, {digit})) {
      return Error{
          fmt::format("cannot factor {}: loop {} is not a reduction loop", block.name, loop)};
    }
  }
  if (Status s = CheckNoLayouts(program, id); !s) return s;
  if (Status s = CheckAlone(program, id); !s) return s;
  return CheckBoundOneToOne(program, id);
}

/// Builds the block of partial results: its iterators are the factored digits, the spatial
/// iterators, and what is left of the reduction.
class PartialBlockBuilder {
 public:
  PartialBlockBuilder(const Program& program, const Block& block,
                      const std::vector<DigitId>& factored)
      : program_(program), block_(block), factored_(factored), iter_values_(block.iters.size()) {}

  Block Build(BufferId output) {
    partial_.output = output;
    AddFactoredIters();
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      if (block_.iters[i].kind == IterKind::kSpatial) {
        iter_values_[i] = AddIter(block_.iters[i], block_.bindings[i]);
      }
    }
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      if (block_.iters[i].kind == IterKind::kReduction) AddReductionIter(i);
    }
    const bool reduces = partial_.iters.back().kind == IterKind::kReduction;
    partial_.kind = reduces ? BlockKind::kReduce : BlockKind::kPlain;
    partial_.reduction = reduces ? block_.reduction : Reduction::kNone;
    partial_.value = SubstituteIters(block_.value, iter_values_);
    for (size_t k = 0; k < factored_.size(); ++k) {
      partial_.output_index.push_back(IterVar(static_cast<int>(k)));
    }
    for (const Expr& index : block_.output_index) {
      partial_.output_index.push_back(SubstituteIters(index, iter_values_));
    }
    partial_.name = FreshBlockName(program_, block_.name + "_rf");
    return std::move(partial_);
  }

 private:
  Expr AddIter(Iter iter, Affine binding) {
    partial_.iters.push_back(std::move(iter));
    partial_.bindings.push_back(std::move(binding));
    return IterVar(static_cast<int>(partial_.iters.size()) - 1);
  }

  void AddFactoredIters() {
    for (size_t k = 0; k < factored_.size(); ++k) {
      const int64_t extent = program_.digit_extents[factored_[k]];
      Affine binding;
      if (extent > 1) binding.Add(factored_[k], 1);
      AddIter({fmt::format("rf{}", k), extent, IterKind::kSpatial}, std::move(binding));
    }
  }

  /// An iterator that loses digits to the factored loop becomes one iterator per digit it keeps,
  /// the slowest first.
  void AddReductionIter(size_t i) {
    const Affine& binding = block_.bindings[i];
    const bool loses_digits =
        std::any_of(binding.terms.begin(), binding.terms.end(), [&](const Affine::Term& term) {
          return program_.digit_extents[term.digit] > 1 && FactoredPosition(term.digit) >= 0;
        });
    if (!loses_digits) {
      iter_values_[i] = AddIter(block_.iters[i], binding);
      return;
    }
    Expr value(0);
    std::vector<Affine::Term> terms = binding.terms;
    std::ranges::sort(terms, std::ranges::greater(), &Affine::Term::coefficient);
    for (const Affine::Term& term : terms) {
      const int64_t extent = program_.digit_extents[term.digit];
      if (extent == 1) continue;
      const int position = FactoredPosition(term.digit);
      Expr part = position >= 0
                      ? IterVar(position)
                      : AddIter({fmt::format("{}{}", block_.iters[i].name, partial_.iters.size()),
                                 extent, IterKind::kReduction},
                                {0, {{term.digit, 1}}});
      value = value + part * Expr(term.coefficient);
    }
    iter_values_[i] = value;
  }

  int FactoredPosition(DigitId digit) const {
    const auto found = std::find(factored_.begin(), factored_.end(), digit);
    return found == factored_.end() ? -1 : static_cast<int>(found - factored_.begin());
  }

  const Program& program_;
  const Block& block_;
  const std::vector<DigitId>& factored_;
  std::vector<Expr> iter_values_;  ///< of the old block, over the new one's iterators
  Block partial_;
};

BufferId NewPartialBuffer(Program& program, BufferId output, const std::vector<DigitId>& factored) {
  Buffer partial = program.buffers[output];
  partial.name = FreshBufferName(program, partial.name + ".rf");
  partial.role = BufferRole::kIntermediate;
  partial.slice_of.clear();
  std::vector<int64_t> extents;
  extents.reserve(factored.size());
  for (DigitId digit : factored) extents.push_back(program.digit_extents[digit]);
  partial.shape.insert(partial.shape.begin(), extents.begin(), extents.end());
  if (!partial.bounds.empty())
    partial.bounds.insert(partial.bounds.begin(), extents.size(), Bound{});
  program.buffers.push_back(std::move(partial));
  return static_cast<BufferId>(program.buffers.size()) - 1;
}

/// Makes the block combine the partial results, with spatial loops around the factored digits.
Placement CombinePartials(Program& program, Block& block, BufferId partial,
                          const std::vector<DigitId>& factored) {
  std::erase_if(block.iters, [](const Iter& iter) { return iter.kind == IterKind::kReduction; });
  std::vector<Expr> index;
  for (size_t k = 0; k < factored.size(); ++k) {
    index.push_back(IterVar(static_cast<int>(block.iters.size())));
    block.iters.push_back(
        {fmt::format("rf{}", k), program.digit_extents[factored[k]], IterKind::kReduction});
  }
  index.insert(index.end(), block.output_index.begin(), block.output_index.end());
  block.value = Load(partial, program.buffers[partial].dtype, std::move(index));
  Placement placement{{}, {}};
  for (const Iter& iter : block.iters) {
    placement.iters.push_back(IterOver({{}, 0, iter.extent - 1}));
  }
  return placement;
}

}  // namespace

Result<BlockId> RFactor(Program& program, BlockId id, LoopId loop) {
  if (Status s = CheckFactorable(program, id, loop); !s) return s.error();
  const std::vector<DigitId> factored = program.loops[loop].digits;
  const BufferId buffer = NewPartialBuffer(program, program.blocks[id].output, factored);
  program.blocks.push_back(
      PartialBlockBuilder(program, program.blocks[id], factored).Build(buffer));
  const BlockId partial = static_cast<BlockId>(program.blocks.size()) - 1;

  ReplaceNode(program, NodeRef::Block(id), NodeRef::Block(partial));
  Placement placement = CombinePartials(program, program.blocks[id], buffer, factored);
  const NodeRef top = ChildTowards(program, NodeRef::Root(), NodeRef::Block(partial));
  placement.place = {NodeRef::Root(), IndexInParent(program, top) + 1};
  PlaceBlock(program, id, placement);
  const std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(id));
  const Result<LoopId> combining = Fuse(program, std::span(loops).last(factored.size()));
  if (!combining) throw std::logic_error(combining.error().message);
  return partial;
}

}  // namespace bayloom::tensor
