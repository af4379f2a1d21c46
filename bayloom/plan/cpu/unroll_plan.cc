// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/plan/cpu/cpu_plan.h"

namespace bayloom::plan {
namespace {

/// Bounds in block instances, as kMaxUnrolled.
constexpr int64_t kMaxStatements = 8192;  // of a whole program
/// Unrolled without being asked: copies and similar code whose loop would cost more than their
/// body.
constexpr int64_t kUnrolledAnyway = 8;

/// Decides for one loop tree.
class Unroller {
 public:
  Unroller(const tensor::Program& program, CpuPlan& plan) : program_(program), plan_(plan) {
    for (const auto& [root, tile] : plan.tiles) {
      if (!tile.alone && tile.nest.is_loop()) nests_[tile.nest.id] = &tile;
    }
  }

  struct Size {
    int64_t steps = 0;       ///< iterations as unroll_max_step counts: a vectorized loop is one
    int64_t statements = 0;  ///< block instances emitted
    bool flat = true;        ///< no loop is left
    bool reduces = false;
  };

  Size VisitBody(tensor::NodeRef node, int64_t max_step) {
    Size sum;
    for (tensor::NodeRef child : program_.BodyOf(node)) {
      const Size size = child.is_loop() ? VisitLoop(child.id, max_step) : VisitBlock(child.id);
      sum.steps += size.steps;
      sum.statements += size.statements;
      sum.flat = sum.flat && size.flat;
      sum.reduces = sum.reduces || size.reduces;
    }
    return sum;
  }

 private:
  Size VisitBlock(tensor::BlockId id) const {
    if (plan_.absorbed.contains(id)) return {};
    const tensor::BlockKind kind = program_.blocks[id].kind;
    return {1, 1, true, kind == tensor::BlockKind::kReduce || kind == tensor::BlockKind::kUpdate};
  }

  Size VisitLoop(tensor::LoopId id, int64_t max_step) {
    if (const auto nest = nests_.find(id); nest != nests_.end()) {
      return VisitNest(*nest->second, max_step);
    }
    const auto tile = plan_.tiles.find(id);
    return tile == plan_.tiles.end() ? VisitPlainLoop(id, max_step)
                                     : VisitTile(tile->second, max_step);
  }

  Size VisitPlainLoop(tensor::LoopId id, int64_t max_step) {
    max_step = MaxStep(id, max_step);
    const auto across = plan_.across.find(id);
    if (across != plan_.across.end()) return VisitAcross(across->second);
    const auto vector = plan_.vector_loops.find(id);
    const bool vectorized = vector != plan_.vector_loops.end();
    Size size =
        VisitBody(tensor::NodeRef::Loop(vectorized ? vector->second.loops.back() : id), max_step);
    if (vectorized) {
      const auto chunks = static_cast<int64_t>(vector->second.Chunks().size());
      size.statements *= chunks <= kMaxChunks ? chunks : 2;
    }
    MaybeUnroll(id, vectorized ? vector->second.outer : program_.loops[id].digits, max_step, size);
    return size;
  }

  Size VisitAcross(const AcrossLoop& across) {
    const VectorLoop& vector = plan_.vector_loops.at(across.vector);
    const int64_t extent = program_.digit_extents[across.digit];
    const int64_t at_once = AcrossLoop::StepsAtOnce(extent, vector.width);
    const auto chunks = static_cast<int64_t>(vector.Chunks().size());
    const int64_t copies = vector.lanes.size() > 1 || chunks <= kMaxAcrossChunks ? chunks : 2;
    Size size = VisitBody(tensor::NodeRef::Loop(vector.loops.back()), 0);
    size.statements *= copies * (at_once + extent % at_once);
    size.flat = false;
    return size;
  }

  Size VisitTile(const AccumulatorTile& tile, int64_t max_step) {
    Size size = tile.alone ? VisitNest(tile, max_step) : VisitPlainLoop(tile.top, max_step);
    size.flat = size.flat && tile.cuts.empty();
    return size;
  }

  /// The reduction loops around the unrolled positions of a tile.
  Size VisitNest(const AccumulatorTile& tile, int64_t max_step) {
    Size size = VisitBlock(tile.block);
    for (tensor::LoopId loop : tile.spatial) {
      max_step = MaxStep(loop, max_step);
      const auto vector = plan_.vector_loops.find(loop);
      const bool vectorized = vector != plan_.vector_loops.end();
      for (tensor::DigitId digit :
           vectorized ? vector->second.outer : program_.loops[loop].digits) {
        size.steps *= tile.StepsOf(program_, digit);
        size.statements *= tile.StepsOf(program_, digit);
      }
      if (!vectorized) continue;
      const tensor::DigitId lane = vector->second.lanes.back();
      const int64_t cut = program_.digit_extents[lane] / tile.StepsOf(program_, lane);
      size.statements *= static_cast<int64_t>(vector->second.Chunks().size()) / cut;
    }
    for (auto loop = tile.reduction.begin(); loop != tile.reduction.end(); ++loop) {
      max_step = MaxStep(*loop, max_step);
    }
    for (auto loop = tile.reduction.rbegin(); loop != tile.reduction.rend(); ++loop) {
      MaybeUnroll(*loop, program_.loops[*loop].digits, max_step, size);
    }
    return size;
  }

  int64_t MaxStep(tensor::LoopId loop, int64_t from_around) const {
    const int64_t own = program_.loops[loop].unroll_max_step;
    return own > 0 ? own : from_around;
  }

  /// `size` becomes that of the loop, whose body it has been of.
  void MaybeUnroll(tensor::LoopId id, const std::vector<tensor::DigitId>& digits, int64_t max_step,
                   Size& size) {
    int64_t extent = 1;
    for (tensor::DigitId digit : digits) extent *= program_.digit_extents[digit];
    if (extent == 1 || plan_.DigitAtOnce(id)) return;
    if (ShouldUnroll(program_.loops[id], extent, size, max_step)) {
      plan_.unrolled.insert(id);
      size.steps *= extent;
      size.statements *= extent;
    } else {
      size.flat = false;
    }
  }

  static bool ShouldUnroll(const tensor::Loop& loop, int64_t extent, const Size& body,
                           int64_t max_step) {
    if (loop.kind == tensor::LoopKind::kParallel) return false;
    const int64_t statements = extent * body.statements;
    if (statements > kMaxUnrolled) return false;
    if (loop.kind == tensor::LoopKind::kUnrolled || loop.kind == tensor::LoopKind::kTensorized) {
      return true;
    }
    if (!body.flat) return false;
    return extent * body.steps <= max_step || (!body.reduces && statements <= kUnrolledAnyway);
  }

  const tensor::Program& program_;
  CpuPlan& plan_;
  std::map<tensor::LoopId, const AccumulatorTile*> nests_;
};

}  // namespace

Status PlanUnrolling(const tensor::Program& program, CpuPlan& plan) {
  const auto size = Unroller(program, plan).VisitBody(tensor::NodeRef::Root(), 0);
  if (size.statements > kMaxStatements) {
    return Error{"'" + program.name + "' unrolls to " + std::to_string(size.statements) +
                 " statements; at most " + std::to_string(kMaxStatements) + " are compiled"};
  }
  return Ok();
}

}  // namespace bayloom::plan
