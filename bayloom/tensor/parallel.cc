// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bayloom/tensor/accelerator_marks.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/primitives/region.h"

namespace bayloom::tensor {
namespace {

/// An index seen from one loop: which terms tell its iterations apart, and what the loops below
/// add. What the loops above contribute is the same for all iterations.
struct Cell {
  std::vector<Affine::Term> outer;  ///< terms of the loop's digits and of digits above it
  std::vector<Affine::Term> inner;  ///< terms of digits below, of extent > 1
  std::vector<DigitId> told_apart;  ///< digits of the loop whose values the index gives away
  IndexRange inner_range{0, 0};     ///< what inner terms and the constant add
  bool inner_is_low = true;         ///< every inner term steps less than the loop's digits
};

class ParallelChecker {
 public:
  ParallelChecker(const Program& program, LoopId loop, ParallelStores stores)
      : program_(program),
        loop_(loop),
        stores_(stores),
        place_(program.digit_extents.size(), Place::kBelow) {
    for (LoopId above : program.LoopsAround(NodeRef::Loop(loop))) Mark(above, Place::kAbove);
    Mark(loop, Place::kLoop);
  }

  Status Check() {
    if (program_.ExtentOf(loop_) == 1) return Ok();
    const std::vector<BlockId> blocks = program_.BlocksBelow(NodeRef::Loop(loop_));
    for (BlockId id : blocks) {
      const Block& block = program_.blocks[id];
      if (ReducesOver(block)) {
        return Error{fmt::format("block {} reduces over the loop", block.name)};
      }
    }
    std::vector<BufferId> checked;
    for (BlockId id : blocks) {
      const BufferId buffer = program_.blocks[id].output;
      if (std::find(checked.begin(), checked.end(), buffer) != checked.end()) continue;
      checked.push_back(buffer);
      if (IsPrivate(buffer)) continue;
      if (Status status = CheckDisjoint(id, blocks); !status) return status;
    }
    return Ok();
  }

 private:
  enum class Place : uint8_t { kAbove, kLoop, kBelow };

  void Mark(LoopId loop, Place place) {
    for (DigitId digit : program_.loops[loop].digits) place_[digit] = place;
  }

  bool IsLoopDigit(DigitId digit) const {
    return place_[digit] == Place::kLoop && program_.digit_extents[digit] > 1;
  }

  bool ReducesOver(const Block& block) const {
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.iters[i].kind != IterKind::kReduction) continue;
      for (const Affine::Term& term : block.bindings[i].terms) {
        if (IsLoopDigit(term.digit)) return true;
      }
    }
    return false;
  }

  bool IsPrivate(BufferId buffer) const {
    return program_.buffers[buffer].role == BufferRole::kIntermediate &&
           IsBelow(program_, AllocationScope(program_, buffer), NodeRef::Loop(loop_));
  }

  int64_t Reach(const Affine::Term& term) const {
    return std::abs(term.coefficient) * (program_.digit_extents[term.digit] - 1);
  }

  /// A mixed-radix number gives away its slow digits: seen from the slowest term downwards, as
  /// long as a term's step exceeds all that the faster ones can add.
  Cell CellOf(const Affine& index) const {
    Cell cell;
    cell.inner_range = {index.constant, index.constant};
    std::vector<Affine::Term> moving;
    int64_t loop_step = 0, inner_step = 0;
    for (const Affine::Term& term : index.terms) {
      if (program_.digit_extents[term.digit] == 1) continue;
      if (place_[term.digit] != Place::kAbove) moving.push_back(term);
      if (place_[term.digit] != Place::kBelow) {
        cell.outer.push_back(term);
        if (place_[term.digit] == Place::kLoop) {
          loop_step = loop_step == 0 ? std::abs(term.coefficient)
                                     : std::min(loop_step, std::abs(term.coefficient));
        }
        continue;
      }
      cell.inner.push_back(term);
      inner_step = std::max(inner_step, std::abs(term.coefficient));
      (term.coefficient < 0 ? cell.inner_range.min : cell.inner_range.max) +=
          term.coefficient < 0 ? -Reach(term) : Reach(term);
    }
    cell.inner_is_low = inner_step < loop_step;
    std::sort(moving.begin(), moving.end(), [](const Affine::Term& a, const Affine::Term& b) {
      return std::abs(a.coefficient) > std::abs(b.coefficient);
    });
    int64_t faster = 0;
    for (const Affine::Term& term : moving) faster += Reach(term);
    for (const Affine::Term& term : moving) {
      faster -= Reach(term);
      if (std::abs(term.coefficient) <= faster) break;
      if (place_[term.digit] == Place::kLoop) cell.told_apart.push_back(term.digit);
    }
    return cell;
  }

  /// Every write below must tell iterations apart, and every other access to the buffer below
  /// must stay in its own iteration's part.
  Status CheckDisjoint(BlockId writer, const std::vector<BlockId>& blocks) const {
    const Block& block = program_.blocks[writer];
    const std::string& name = program_.buffers[block.output].name;
    std::vector<Cell> cells;
    std::vector<DigitId> told_apart;
    for (const Expr& expr : block.output_index) {
      const std::optional<Affine> index = ComposeIndex(expr, block.bindings);
      cells.push_back(index ? CellOf(*index) : Cell{});
      told_apart.insert(told_apart.end(), cells.back().told_apart.begin(),
                        cells.back().told_apart.end());
    }
    for (DigitId digit : program_.loops[loop_].digits) {
      if (!IsLoopDigit(digit)) continue;
      if (std::find(told_apart.begin(), told_apart.end(), digit) == told_apart.end() &&
          !StoresTheSame(block, digit, blocks)) {
        return Error{fmt::format("iterations of the loop write the same elements of {}", name)};
      }
    }
    for (BlockId other : blocks) {
      if (other == writer) continue;
      for (const Access& access : AccessesOf(program_, other)) {
        if (access.buffer == block.output && !StaysInCells(access, cells)) {
          return Error{fmt::format("block {} touches what other iterations of the loop write of {}",
                                   program_.blocks[other].name, name)};
        }
      }
    }
    return Ok();
  }

  /// Tiles along the digit overlap, and what they share is stored by both with the same value: the
  /// element says at which point the block is, and nothing below reads it or adds to it.
  bool StoresTheSame(const Block& block, DigitId digit, const std::vector<BlockId>& blocks) const {
    if (stores_ == ParallelStores::kDisjoint || block.kind != BlockKind::kPlain) return false;
    if (!IterOfDimension(program_, block)) return false;
    const bool moves =
        std::any_of(block.bindings.begin(), block.bindings.end(),
                    [&](const Affine& binding) { return binding.CoefficientOf(digit) != 0; });
    return moves && std::none_of(blocks.begin(), blocks.end(), [&](BlockId other) {
             const std::vector<Access> accesses = AccessesOf(program_, other);
             return std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
               const bool own_store = access.is_write && &program_.blocks[other] == &block;
               return access.buffer == block.output && !own_store;
             });
           });
  }

  bool StaysInCells(const Access& access, const std::vector<Cell>& cells) const {
    for (size_t d = 0; d < cells.size(); ++d) {
      if (cells[d].told_apart.empty()) continue;
      if (!access.indices[d]) return false;
      const Cell cell = CellOf(*access.indices[d]);
      if (cell.outer != cells[d].outer || cell.inner_is_low != cells[d].inner_is_low) return false;
      const bool inside = cell.inner_range.min >= cells[d].inner_range.min &&
                          cell.inner_range.max <= cells[d].inner_range.max;
      if (!inside || (!cell.inner_is_low && !SameSteps(cell, cells[d]))) return false;
    }
    return true;
  }

  /// However the same range was cut into digits.
  bool SameSteps(const Cell& a, const Cell& b) const {
    return MergedSteps(a.inner) == MergedSteps(b.inner);
  }

  /// Steps and counts in increasing order, a step that goes on where the one before ends merged
  /// with it.
  std::vector<std::pair<int64_t, int64_t>> MergedSteps(
      const std::vector<Affine::Term>& terms) const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const Affine::Term& term : terms) {
      steps.emplace_back(term.coefficient, program_.digit_extents[term.digit]);
    }
    std::sort(steps.begin(), steps.end());
    std::vector<std::pair<int64_t, int64_t>> merged;
    for (const auto& [step, count] : steps) {
      if (!merged.empty() && step == merged.back().first * merged.back().second) {
        merged.back().second *= count;
      } else {
        merged.emplace_back(step, count);
      }
    }
    return merged;
  }

  const Program& program_;
  LoopId loop_;
  ParallelStores stores_;
  std::vector<Place> place_;
};

}  // namespace

Status CheckParallel(const Program& program, LoopId loop, ParallelStores stores) {
  return ParallelChecker(program, loop, stores).Check();
}

Status CheckKindOfLoop(const Program& program, LoopId loop) {
  const LoopKind kind = program.loops[loop].kind;
  if (Status status = CheckAcceleratorMark(program, loop, kind); !status) return status;
  if (RunsInOrder(kind)) return Ok();
  return CheckParallel(
      program, loop,
      kind == LoopKind::kParallel ? ParallelStores::kMayRepeat : ParallelStores::kDisjoint);
}

}  // namespace bayloom::tensor
