// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/split_iterator.h"

#include <fmt/format.h>

#include <optional>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"
#include "bayloom/tensor/simplify.h"

namespace bayloom::tensor {
namespace {

struct IndexDivision {
  Affine quotient, rest;
};

/// The index as quotient * by + rest with the rest in [0, by); nullopt if its digits do not divide
/// so.
std::optional<IndexDivision> DivideIndex(const Program& program, const Affine& index, int64_t by) {
  if (index.constant < 0) return std::nullopt;
  IndexDivision division;
  division.quotient.constant = index.constant / by;
  division.rest.constant = index.constant % by;
  int64_t greatest = division.rest.constant;
  for (const Affine::Term& term : index.terms) {
    if (term.coefficient % by == 0) {
      division.quotient.Add(term.digit, term.coefficient / by);
      continue;
    }
    if (term.coefficient < 0) return std::nullopt;
    division.rest.Add(term.digit, term.coefficient);
    greatest += term.coefficient * (program.digit_extents[term.digit] - 1);
  }
  if (greatest >= by) return std::nullopt;
  return division;
}

/// The loop that alone runs over all of the iterator; -1 if there is none.
LoopId OnlyLoopOf(const Program& program, BlockId id, int iter) {
  const Affine& binding = program.blocks[id].bindings[iter];
  if (binding.terms.size() != 1) return -1;
  for (LoopId loop : program.LoopsAround(NodeRef::Block(id))) {
    if (program.loops[loop].digits == std::vector<DigitId>{binding.terms[0].digit}) return loop;
  }
  return -1;
}

}  // namespace

Status SplitIterator(Program& program, BlockId id, int iter, int64_t factor) {
  if (Status s = CheckBlock(program, id); !s) return s;
  const Iter old = program.blocks[id].iters[iter];
  const auto refuse = [&](const char* why) {
    return Error{fmt::format("cannot split iterator {} of {} by {}: {}", old.name,
                             program.blocks[id].name, factor, why)};
  };
  if (old.kind != IterKind::kSpatial) return refuse("it is reduced over");
  if (old.bound.is_open()) return refuse("it is open");
  if (factor < 1 || old.extent % factor != 0) return refuse("that does not divide its extent");
  auto division = DivideIndex(program, program.blocks[id].bindings[iter], factor);
  if (!division) {
    const LoopId loop = OnlyLoopOf(program, id, iter);
    const int64_t factors[] = {-1, factor};
    if (loop < 0 || !Split(program, loop, factors)) return refuse("its loops are split elsewhere");
    division = DivideIndex(program, program.blocks[id].bindings[iter], factor);
  }
  if (!division) return refuse("its loops are split elsewhere");

  Block& block = program.blocks[id];
  const int rest = static_cast<int>(block.iters.size());
  std::vector<Expr> places;
  for (int i = 0; i < rest; ++i) places.push_back(IterVar(i));
  places[iter] = IterVar(iter) * Expr(factor) + IterVar(rest);
  block.iters[iter].extent = old.extent / factor;
  block.iters.push_back({old.name + ".rest", factor, IterKind::kSpatial});
  block.bindings[iter] = division->quotient;
  block.bindings.push_back(division->rest);
  const auto rewritten = [&](const Expr& e) {
    return Simplify(SubstituteIters(e, places), block.iters);
  };
  block.value = rewritten(block.value);
  for (Expr& index : block.output_index) index = rewritten(index);
  return Ok();
}

}  // namespace bayloom::tensor
