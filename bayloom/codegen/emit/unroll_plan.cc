#include <algorithm>

#include "bayloom/codegen/emit/plan.h"

namespace bayloom {
namespace {

/// Bounds on straight-line code, in block instances (a chunk of lanes counts as one): compile
/// time is the tuner's time, and code that leaves the instruction cache is not fast.
constexpr int64_t kMaxUnrolled = 384;     // from unrolling loops as asked
constexpr int64_t kMaxStatements = 8192;  // of a whole program
/// Unrolled without being asked: copies and the like whose loop would cost more than their body.
constexpr int64_t kUnrolledAnyway = 8;

/// Decides for one loop tree.
class Unroller {
 public:
  Unroller(const Program& program, EmitPlan& plan) : program_(program), plan_(plan) {
    for (const auto& [top, tile] : plan.tiles) {
      for (LoopId loop : tile.spatial) tile_of_[loop] = &tile;
    }
  }

  struct Size {
    int64_t steps = 0;       ///< iterations as unroll_max_step counts: a vectorized loop is one
    int64_t statements = 0;  ///< block instances emitted
    bool flat = true;        ///< no loop is left
    bool reduces = false;
  };
  Size VisitBody(NodeRef node, int64_t max_step) {
    Size sum;
    for (NodeRef child : program_.BodyOf(node)) {
      const Size size = child.is_loop() ? VisitLoop(child.id, max_step) : VisitBlock(child.id);
      sum.steps += size.steps;
      sum.statements += size.statements;
      sum.flat = sum.flat && size.flat;
      sum.reduces = sum.reduces || size.reduces;
    }
    return sum;
  }

 private:
  Size VisitBlock(BlockId id) {
    if (plan_.absorbed.contains(id)) return {};
    const BlockKind kind = program_.blocks[id].kind;
    return {1, 1, true, kind == BlockKind::kReduce || kind == BlockKind::kUpdate};
  }

  Size VisitLoop(LoopId id, int64_t max_step) {
    const Loop& loop = program_.loops[id];
    if (loop.unroll_max_step > 0) max_step = loop.unroll_max_step;
    const auto vector = plan_.vector_loops.find(id);
    const NodeRef body =
        NodeRef::Loop(vector == plan_.vector_loops.end() ? id : vector->second.loops.back());
    Size size = VisitBody(body, max_step);
    const auto tile = tile_of_.find(id);
    const AccumulatorTile* const of_tile = tile == tile_of_.end() ? nullptr : tile->second;
    std::vector<DigitId> digits = loop.digits;
    if (vector != plan_.vector_loops.end()) {
      size.statements *= Chunks(vector->second, of_tile);
      digits = vector->second.outer;
    }
    int64_t extent = 1;
    for (DigitId digit : digits) extent *= Steps(digit, of_tile);
    if (extent == 1) return size;
    if (of_tile || ShouldUnroll(loop, extent, size, max_step)) {
      if (!of_tile) plan_.unrolled.insert(id);
      size.steps *= extent;
      size.statements *= extent;
    } else {
      size.flat = false;
    }
    return size;
  }

  bool ShouldUnroll(const Loop& loop, int64_t extent, const Size& body, int64_t max_step) const {
    if (loop.kind == LoopKind::kParallel) return false;
    const int64_t statements = extent * body.statements;
    if (statements > kMaxUnrolled) return false;
    if (loop.kind == LoopKind::kUnrolled) return true;
    if (!body.flat) return false;
    return extent * body.steps <= max_step || (!body.reduces && statements <= kUnrolledAnyway);
  }

  int64_t Steps(DigitId digit, const AccumulatorTile* tile) const {
    if (tile) {
      if (const auto cut = tile->inner.find(digit); cut != tile->inner.end()) return cut->second;
    }
    return program_.digit_extents[digit];
  }

  int64_t Chunks(const VectorLoop& vector, const AccumulatorTile* tile) const {
    if (tile && tile->inner.contains(vector.lanes.back())) {
      return tile->inner.at(vector.lanes.back()) / vector.width;
    }
    const auto chunks = static_cast<int64_t>(vector.Chunks().size());
    return tile || chunks <= kMaxChunks ? chunks : 2;
  }

  const Program& program_;
  EmitPlan& plan_;
  std::map<LoopId, const AccumulatorTile*> tile_of_;
};

}  // namespace

Status PlanUnrolling(const Program& program, EmitPlan& plan) {
  const auto size = Unroller(program, plan).VisitBody(NodeRef::Root(), 0);
  if (size.statements > kMaxStatements) {
    return Error{"'" + program.name + "' unrolls to " + std::to_string(size.statements) +
                 " statements; at most " + std::to_string(kMaxStatements) + " are compiled"};
  }
  return Ok();
}

}  // namespace bayloom
