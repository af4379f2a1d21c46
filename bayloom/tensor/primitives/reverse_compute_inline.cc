// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/elementwise.h"
#include "bayloom/tensor/primitives/injective.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// The consumer folded into one of its producers.
struct Fold {
  BlockId producer;
  /// For each iterator of the consumer the producer's that takes its place; -1 for one of extent
  /// 1 that the access does not mention.
  std::vector<int> producer_iter;
};

/// One iteration of the scope that both blocks are in brings both to the same elements, each
/// element once.
Status CheckSameElements(const Program& program, BlockId consumer_id, const Fold& fold) {
  const Block& consumer = program.blocks[consumer_id];
  const Block& producer = program.blocks[fold.producer];
  const NodeRef scope =
      CommonAncestor(program, NodeRef::Block(consumer_id), NodeRef::Block(fold.producer));
  const DigitMask outer = DigitsAround(program, scope);
  auto inner_terms = [&](const Affine& binding) {
    std::vector<Affine::Term> terms = binding.terms;
    std::erase_if(terms, [&](const Affine::Term& term) { return outer[term.digit]; });
    return terms;
  };
  for (size_t i = 0; i < fold.producer_iter.size(); ++i) {
    if (fold.producer_iter[i] < 0) continue;
    const Affine& theirs = consumer.bindings[i];
    const Affine& ours = producer.bindings[fold.producer_iter[i]];
    const Span their_span = SpanOf(program, theirs, outer);
    const Span our_span = SpanOf(program, ours, outer);
    const bool same = their_span.outer == our_span.outer && their_span.min == our_span.min &&
                      their_span.max == our_span.max;
    if (!same || !IsDense(program, inner_terms(theirs)) || !IsDense(program, inner_terms(ours))) {
      return Error{
          fmt::format("cannot fold {} into {}: they are not computed over the same "
                      "elements",
                      consumer.name, producer.name)};
    }
  }
  std::vector<LoopId> loops = program.LoopsAround(NodeRef::Block(fold.producer));
  const size_t shared = scope.is_loop() ? program.LoopsAround(scope).size() + 1 : 0;
  loops.erase(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(shared));
  if (!VisitsElementsOnce(program, producer, loops)) {
    return Error{fmt::format("cannot fold {} into {}: it computes elements more than once",
                             consumer.name, producer.name)};
  }
  return Ok();
}

/// The other inputs of the consumer must be there where the producer runs.
Status CheckOtherInputs(const Program& program, BlockId consumer_id, const Fold& fold) {
  const Block& consumer = program.blocks[consumer_id];
  const Block& producer = program.blocks[fold.producer];
  const NodeRef node = NodeRef::Block(fold.producer);
  const Place place{program.ParentOf(node), IndexInParent(program, node)};
  const DigitMask outer = DigitsAround(program, place.parent);
  std::vector<Span> iters(consumer.iters.size());
  for (size_t i = 0; i < iters.size(); ++i) {
    if (fold.producer_iter[i] < 0) continue;
    iters[i] = SpanOf(program, producer.bindings[fold.producer_iter[i]], outer);
  }
  for (BufferId buffer : BuffersReadBy(consumer)) {
    if (buffer == producer.output) continue;
    if (Status s = CheckInputAvailable(program, consumer_id, buffer, iters, place); !s) return s;
  }
  return Ok();
}

Result<Fold> PlanFold(const Program& program, BlockId consumer_id, BlockId producer_id) {
  const Block& consumer = program.blocks[consumer_id];
  const Block& producer = program.blocks[producer_id];
  const Buffer& buffer = program.buffers[producer.output];
  auto refuse = [&](std::string_view why) {
    return Error{fmt::format("cannot fold {} into {}: {}", consumer.name, producer.name, why)};
  };
  if (producer.kind != BlockKind::kPlain) return refuse("that is a reduction");
  if (buffer.role != BufferRole::kIntermediate) return refuse("its result is an output");
  if (program.ReadersOf(producer.output).size() != 1) return refuse("others read its result too");
  if (Status s = CheckNoLayouts(program, producer_id); !s) return s.error();
  Result<std::vector<int>> producer_iters = IterOfDimension(program, producer);
  if (!producer_iters) return producer_iters.error();
  Result<std::vector<int>> consumer_iters = ElementwiseIters(program, consumer, producer.output);
  if (!consumer_iters) return consumer_iters.error();

  Fold fold{producer_id, std::vector<int>(consumer.iters.size(), -1)};
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    if ((*consumer_iters)[d] < 0) continue;
    fold.producer_iter[(*consumer_iters)[d]] = (*producer_iters)[d];
  }
  for (size_t i = 0; i < consumer.iters.size(); ++i) {
    const int taken_by = fold.producer_iter[i];
    const int64_t extent = taken_by < 0 ? 1 : producer.iters[taken_by].extent;
    if (consumer.iters[i].extent != extent) return refuse("their iterators do not correspond");
  }
  if (Status s = CheckSameElements(program, consumer_id, fold); !s) return s.error();
  if (Status s = CheckOtherInputs(program, consumer_id, fold); !s) return s.error();
  return fold;
}

Result<Fold> FindFold(const Program& program, BlockId id) {
  if (Status s = CheckBlock(program, id); !s) return s.error();
  const Block& block = program.blocks[id];
  if (block.kind != BlockKind::kPlain) {
    return Error{
        fmt::format("cannot fold {} into its producer: it is part of a reduction", block.name)};
  }
  if (Status s = CheckNoLayouts(program, id); !s) return s.error();
  // Of several refusals that of an elementwise producer tells most.
  Error refusal{fmt::format("{} reads nothing that a block computes", block.name)};
  bool refused_by_plain = false;
  for (BufferId buffer : BuffersReadBy(block)) {
    const BlockId producer = program.WriterOf(buffer);
    if (producer < 0) continue;
    Result<Fold> fold = PlanFold(program, id, producer);
    if (fold) return fold;
    if (!refused_by_plain) refusal = fold.error();
    refused_by_plain |= program.blocks[producer].kind == BlockKind::kPlain;
  }
  return refusal;
}

}  // namespace

Status ReverseComputeInline(Program& program, BlockId id) {
  const Result<Fold> fold = FindFold(program, id);
  if (!fold) return fold.error();
  const Block& consumer = program.blocks[id];
  Block& producer = program.blocks[fold->producer];
  std::vector<Expr> iters;
  for (int iter : fold->producer_iter) iters.push_back(iter < 0 ? Expr(0) : IterVar(iter));
  const Expr produced = producer.value;
  const BufferId between = producer.output;
  producer.value = Rewrite(consumer.value, [&](const Expr& e) -> std::optional<Expr> {
    if (e->op == ExprOp::kIter) return iters[e->index];
    if (e->index == between) return produced;
    return std::nullopt;
  });
  for (size_t i = 0; i < consumer.iters.size(); ++i) {
    const int iter = fold->producer_iter[i];
    if (iter >= 0 && consumer.iters[i].bound.is_open()) {
      producer.iters[iter].bound = consumer.iters[i].bound;
    }
  }
  producer.output = consumer.output;
  producer.output_index.clear();
  for (const Expr& index : consumer.output_index) {
    producer.output_index.push_back(SubstituteIters(index, iters));
  }
  Detach(program, NodeRef::Block(id));
  program.blocks[id].alive = false;
  return Ok();
}

}  // namespace bayloom::tensor
