// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "bayloom/sketch/postprocess/access_places.h"
#include "bayloom/sketch/postprocess/postprocess.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/primitives.h"

namespace bayloom::sketch {
namespace {

/// Where a block reads and writes.
struct Places {
  tensor::Affine store;
  std::vector<tensor::Affine> loads;
};

std::optional<Places> PlacesOf(const tensor::Program& program, tensor::BlockId block) {
  AccessPlaces in_memory(program);
  Places places;
  for (const tensor::Access& access : tensor::AccessesOf(program, block)) {
    std::optional<tensor::Affine> place = in_memory.Of(access);
    if (!place) return std::nullopt;
    if (access.is_write) {
      places.store = *std::move(place);
    } else {
      places.loads.push_back(*std::move(place));
    }
  }
  return places;
}

/// The loops directly around the block that may run in any order, outermost first.
std::vector<tensor::LoopId> FreeLoops(const tensor::Program& program, tensor::BlockId block) {
  const std::vector<tensor::LoopId> around = program.LoopsAround(tensor::NodeRef::Block(block));
  std::vector<tensor::LoopId> loops;
  for (auto loop = around.rbegin(); loop != around.rend(); ++loop) {
    const bool free = program.loops[*loop].kind == tensor::LoopKind::kSerial &&
                      program.loops[*loop].body.size() == 1 &&
                      tensor::CheckParallel(program, *loop);
    if (!free) break;
    loops.insert(loops.begin(), *loop);
  }
  return loops;
}

/// Whether the loop's steps are `step` elements apart, from the first to the last.
bool StepsBy(const tensor::Program& program, tensor::LoopId loop, const tensor::Affine& place,
             int64_t step) {
  const std::vector<tensor::DigitId>& digits = program.loops[loop].digits;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (place.CoefficientOf(*digit) != step) return false;
    step *= program.digit_extents[*digit];
  }
  return true;
}

/// Moves the loops out of `from` along which the block writes one register contiguously, outermost
/// first.
std::vector<tensor::LoopId> TakeStoreLoops(const tensor::Program& program,
                                           const tensor::Affine& store, int64_t lanes,
                                           std::vector<tensor::LoopId>& from) {
  std::vector<tensor::LoopId> taken;
  for (int64_t extent = 1; extent < lanes;) {
    const auto next = std::ranges::find_if(
        from, [&](tensor::LoopId loop) { return StepsBy(program, loop, store, extent); });
    if (next == from.end()) break;
    extent *= program.ExtentOf(*next);
    taken.insert(taken.begin(), *next);
    from.erase(next);
  }
  return taken;
}

/// The loop along which elements are read contiguously that lie apart for the vectorized loop; -1
/// if there is none.
tensor::LoopId LoadLoop(const tensor::Program& program, const Places& places,
                        tensor::LoopId vectorized, const std::vector<tensor::LoopId>& others) {
  const tensor::DigitId lane = program.loops[vectorized].digits.back();
  for (const tensor::Affine& load : places.loads) {
    if (load.CoefficientOf(lane) <= 1) continue;
    for (tensor::LoopId loop : others) {
      if (load.CoefficientOf(program.loops[loop].digits.back()) == 1) return loop;
    }
  }
  return -1;
}

/// Whether the block reads by a condition, as padding does: steps of the loops around are not
/// loaded together then.
bool LoadsByCondition(const tensor::Expr& value) {
  bool found = false;
  tensor::Visit(value, [&](const tensor::Expr& e) {
    if (e->op != tensor::ExprOp::kSelect) return;
    for (const tensor::Expr& side : {e->operands[1], e->operands[2]}) {
      tensor::Visit(side, [&](const tensor::Expr& inner) {
        found = found || inner->op == tensor::ExprOp::kLoad;
      });
    }
  });
  return found;
}

/// The part of a loop of that extent whose steps are loaded together with registers of `lanes`
/// elements; 0 where it is short, or has no such part.
int64_t StepsAtOnce(int64_t extent, int64_t lanes) {
  for (int64_t steps = lanes; 2 * steps > lanes; --steps) {
    if (extent > lanes && extent % steps == 0) return steps;
  }
  return 0;
}

/// Splits off the steps that are loaded together and marks them, so that they stay together.
tensor::LoopId CutLoadLoop(tensor::Program& program, tensor::LoopId loop, int64_t lanes) {
  if (const int64_t steps = StepsAtOnce(program.ExtentOf(loop), lanes); steps > 0) {
    const int64_t factors[] = {-1, steps};
    Result<std::vector<tensor::LoopId>> split = tensor::Split(program, loop, factors);
    if (split) loop = split->back();
  }
  if (program.ExtentOf(loop) <= lanes) (void)tensor::Unroll(program, loop);
  return loop;
}

}  // namespace

int64_t VectorFactor(int64_t extent, int64_t lanes) {
  if (extent <= kMaxVectorExtent) return 0;
  for (int64_t factor = kMaxVectorExtent / lanes * lanes; factor > 0; factor -= lanes) {
    if (extent % factor == 0) return factor;
  }
  return 0;
}

bool VectorizeCopy(tensor::Program& program, tensor::BlockId block, int64_t lanes) {
  if (program.blocks[block].kind != tensor::BlockKind::kPlain) return false;
  const std::optional<Places> places = PlacesOf(program, block);
  if (!places) return false;
  std::vector<tensor::LoopId> order = FreeLoops(program, block);
  const std::vector<tensor::LoopId> taken = TakeStoreLoops(program, places->store, lanes, order);
  if (taken.empty()) return false;
  const tensor::LoopId across = LoadLoop(program, *places, taken.back(), order);
  if (across >= 0) {
    if (LoadsByCondition(program.blocks[block].value)) return false;
    std::erase(order, across);
    order.push_back(across);
  }
  order.insert(order.end(), taken.begin(), taken.end());
  if (!tensor::Reorder(program, order)) return false;
  tensor::LoopId vectorized = taken.back();
  const tensor::LoopId around = across < 0 ? -1 : CutLoadLoop(program, across, lanes);
  if (taken.size() > 1) {
    const Result<tensor::LoopId> fused = tensor::Fuse(program, taken);
    if (!fused) return false;
    vectorized = *fused;
    // Registers of several loops are put together one by one, not in a loop.
    const int64_t factor = VectorFactor(program.ExtentOf(vectorized), lanes);
    const int64_t factors[] = {-1, factor};
    Result<std::vector<tensor::LoopId>> split = Error{""};
    if (factor > 0) split = tensor::Split(program, vectorized, factors);
    if (split) {
      vectorized = split->back();
      const tensor::LoopId inside[] = {split->front(), around};
      if (around >= 0) (void)tensor::Reorder(program, inside);
    }
  }
  return static_cast<bool>(tensor::Vectorize(program, vectorized));
}

}  // namespace bayloom::sketch
