#include "bayloom/codegen/emit/accumulator_plan.h"

#include <algorithm>
#include <set>

namespace bayloom {
namespace {

/// A digit of the tile, slowest first; lanes count in registers, not elements.
struct TileDigit {
  DigitId digit;
  int64_t steps;
  int64_t unit = 1;       ///< elements per step
  bool divisible = true;  ///< may be cut
};

int64_t Product(const std::vector<int64_t>& factors) {
  int64_t product = 1;
  for (int64_t factor : factors) product *= factor;
  return product;
}

/// Finds the tile of one block.
class TilePlanner {
 public:
  TilePlanner(const Program& program, const Target& target,
              const std::map<BlockId, BlockAccesses>& accesses,
              const std::map<LoopId, VectorLoop>& vector_loops, BlockId block)
      : program_(program),
        registers_(target.vector_bytes >= 64 ? 32 : 16),
        accesses_(accesses.at(block)),
        vector_loops_(vector_loops),
        id_(block),
        block_(program.blocks[block]) {
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      auto& digits = block_.iters[i].kind == IterKind::kReduction ? reduction_ : spatial_;
      for (const Affine::Term& term : block_.bindings[i].terms) digits.insert(term.digit);
    }
  }

  std::optional<AccumulatorTile> Plan();

 private:
  enum class Role { kSpatial, kReduction, kOther };
  Role RoleOf(const Loop& loop) const;
  bool AppendSpatial(LoopId loop);
  bool TouchedOnlyByBlock(LoopId loop) const;
  /// What one pass over the tile costs with these steps per digit, per accumulator; nullopt when
  /// it does not fit into the registers.
  std::optional<double> Cost(const std::vector<int64_t>& steps) const;
  bool Cut(AccumulatorTile& tile) const;
  void AbsorbInit(AccumulatorTile& tile) const;
  bool CoversTile(const AccumulatorTile& tile, NodeRef init) const;
  bool CoversReduction(const AccumulatorTile& tile) const;
  std::vector<int64_t> FullSteps() const;

  const Program& program_;
  const int registers_;
  const BlockAccesses& accesses_;
  const std::map<LoopId, VectorLoop>& vector_loops_;
  const BlockId id_;
  const Block& block_;
  std::set<DigitId> spatial_, reduction_;
  std::vector<LoopId> tile_loops_;
  std::vector<TileDigit> digits_;
};

TilePlanner::Role TilePlanner::RoleOf(const Loop& loop) const {
  bool spatial = true, reduction = true;
  for (DigitId digit : loop.digits) {
    if (program_.digit_extents[digit] == 1) continue;
    spatial = spatial && spatial_.contains(digit) && !reduction_.contains(digit);
    reduction = reduction && reduction_.contains(digit) && !spatial_.contains(digit);
  }
  const bool runs_in_order = loop.kind == LoopKind::kSerial || loop.kind == LoopKind::kUnrolled;
  if (spatial) {
    return runs_in_order || loop.kind == LoopKind::kVectorized ? Role::kSpatial : Role::kOther;
  }
  return reduction && runs_in_order ? Role::kReduction : Role::kOther;
}

/// Puts a loop's digits in front of the tile; false when two steps would meet in one element.
bool TilePlanner::AppendSpatial(LoopId id) {
  std::vector<TileDigit> digits;
  const auto vector = vector_loops_.find(id);
  if (vector == vector_loops_.end()) {
    if (program_.loops[id].kind == LoopKind::kVectorized) return true;  // within the one around it
    for (DigitId digit : program_.loops[id].digits) {
      digits.push_back({digit, program_.digit_extents[digit]});
    }
  } else {
    const VectorLoop& plan = vector->second;
    for (DigitId digit : plan.outer) digits.push_back({digit, program_.digit_extents[digit]});
    const auto chunks = static_cast<int64_t>(plan.Chunks().size());
    const bool even = plan.lane_count == chunks * plan.width;
    digits.push_back({plan.lanes.back(), chunks, plan.width, even && plan.lanes.size() == 1});
  }
  for (const TileDigit& digit : digits) {
    if (digit.steps > 1 && accesses_.store.affine.CoefficientOf(digit.digit) == 0) return false;
  }
  digits_.insert(digits_.begin(), digits.begin(), digits.end());
  tile_loops_.insert(tile_loops_.begin(), id);
  return true;
}

bool TilePlanner::TouchedOnlyByBlock(LoopId loop) const {
  for (BlockId other : program_.BlocksBelow(NodeRef::Loop(loop))) {
    if (other == id_) continue;
    if (program_.blocks[other].output == block_.output) return false;
    for (const Access& access : AccessesOf(program_, other)) {
      if (access.buffer == block_.output) return false;
    }
  }
  return true;
}

std::vector<int64_t> TilePlanner::FullSteps() const {
  std::vector<int64_t> steps;
  for (const TileDigit& digit : digits_) steps.push_back(digit.steps);
  return steps;
}

/// A load whose value several accumulators use must stay in a register while the digits run over
/// which it is reused: it takes as many registers as it has values below the outermost such digit.
std::optional<double> TilePlanner::Cost(const std::vector<int64_t>& steps) const {
  const int64_t accumulators = Product(steps);
  int64_t live = accumulators, loaded = 0;
  for (const auto& [node, load] : accesses_.loads) {
    int64_t values = 1, kept = 1;
    bool reused = false;
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool varies = load.affine.CoefficientOf(digits_[i].digit) != 0;
      if (varies) values *= steps[i];
      if (varies && reused) kept *= steps[i];
      reused = reused || (!varies && steps[i] > 1);
    }
    loaded += values;
    live += kept;
  }
  if (live > registers_) return std::nullopt;
  constexpr double kPerCycle = 2;       // multiply-adds, and loads, that start in one cycle
  constexpr double kLatency = 4;        // cycles until an accumulator can be used again
  constexpr double kLoadWeight = 0.02;  // of two equals, the one with fewer loads
  const double cycles = std::max({accumulators / kPerCycle, loaded / kPerCycle, kLatency});
  return (cycles + kLoadWeight * loaded) / accumulators;
}

/// Chooses the best steps per digit among all ways to cut the tile.
bool TilePlanner::Cut(AccumulatorTile& tile) const {
  std::vector<int64_t> steps(digits_.size(), 1), best;
  double best_cost = 0;
  const auto search = [&](const auto& self, size_t i) -> void {
    if (i == digits_.size()) {
      const auto cost = Cost(steps);
      if (cost && (best.empty() || *cost < best_cost)) {
        best = steps;
        best_cost = *cost;
      }
      return;
    }
    const TileDigit& digit = digits_[i];
    for (int64_t s = 1; s <= std::min<int64_t>(digit.steps, registers_); ++s) {
      if (digit.steps % s != 0 || (!digit.divisible && s != digit.steps)) continue;
      steps[i] = s;
      self(self, i + 1);
    }
    steps[i] = 1;
  };
  search(search, 0);
  if (best.empty()) return false;
  for (size_t i = 0; i < digits_.size(); ++i) {
    if (best[i] != digits_[i].steps) tile.inner[digits_[i].digit] = best[i] * digits_[i].unit;
  }
  return true;
}

bool TilePlanner::CoversReduction(const AccumulatorTile& tile) const {
  std::set<DigitId> inside;
  std::vector<LoopId> loops = program_.LoopsAround(NodeRef::Block(id_));
  const auto top = std::ranges::find(loops, tile.top);
  for (auto loop = top; loop != loops.end(); ++loop) {
    inside.insert(program_.loops[*loop].digits.begin(), program_.loops[*loop].digits.end());
  }
  return std::ranges::all_of(reduction_, [&](DigitId digit) {
    return inside.contains(digit) || program_.digit_extents[digit] == 1;
  });
}

/// True if `init` writes just the tile: the same element outside its loops, the same strides and
/// extents inside.
bool TilePlanner::CoversTile(const AccumulatorTile& tile, NodeRef init) const {
  const std::vector<BlockId> blocks = program_.BlocksBelow(init);
  if (blocks.size() != 1) return false;
  const Block& block = program_.blocks[blocks[0]];
  if (block.kind != BlockKind::kInit || block.output != block_.output) return false;
  const auto digits_of = [&](const std::vector<LoopId>& loops) {
    std::set<DigitId> digits;
    for (LoopId loop : loops) {
      digits.insert(program_.loops[loop].digits.begin(), program_.loops[loop].digits.end());
    }
    return digits;
  };
  // Per dimension: (part outside, sorted strides and extents inside).
  using Walk = std::pair<Affine, std::vector<std::pair<int64_t, int64_t>>>;
  const auto walk = [&](const Expr& index, const Block& of, const std::set<DigitId>& inside) {
    Walk result;
    const auto affine = ComposeIndex(index, of.bindings);
    result.first.constant = affine->constant;
    for (const Affine::Term& term : affine->terms) {
      const int64_t extent = program_.digit_extents[term.digit];
      if (!inside.contains(term.digit)) {
        result.first.Add(term.digit, term.coefficient);
      } else if (extent > 1) {
        result.second.emplace_back(term.coefficient, extent);
      }
    }
    std::ranges::sort(result.second);
    return result;
  };
  std::vector<LoopId> init_loops = program_.LoopsAround(NodeRef::Block(blocks[0]));
  const size_t outside = program_.LoopsAround(init).size();
  init_loops.erase(init_loops.begin(), init_loops.begin() + static_cast<int64_t>(outside));
  const std::set<DigitId> in_init = digits_of(init_loops), in_tile = digits_of(tile.spatial);
  for (size_t d = 0; d < block_.output_index.size(); ++d) {
    if (walk(block.output_index[d], block, in_init) !=
        walk(block_.output_index[d], block_, in_tile)) {
      return false;
    }
  }
  return true;
}

void TilePlanner::AbsorbInit(AccumulatorTile& tile) const {
  if (block_.kind == BlockKind::kReduce) {
    tile.starts_neutral = CoversReduction(tile);
    return;
  }
  const NodeRef top = NodeRef::Loop(tile.top);
  const std::vector<NodeRef>& siblings = program_.BodyOf(program_.ParentOf(top));
  for (auto node = std::ranges::find(siblings, top); node-- != siblings.begin();) {
    if (CoversTile(tile, *node)) {
      tile.init = *node;
      tile.starts_neutral = true;
      return;
    }
    if (node->is_block() || !TouchedOnlyByBlock(node->id)) return;
  }
}

std::optional<AccumulatorTile> TilePlanner::Plan() {
  std::optional<AccumulatorTile> best;
  std::vector<LoopId> chain = program_.LoopsAround(NodeRef::Block(id_));
  bool alone = true, below_is_reduction = false;
  for (auto loop = chain.rbegin(); loop != chain.rend(); ++loop) {
    const Role role = RoleOf(program_.loops[*loop]);
    const bool single_child = program_.loops[*loop].body.size() == 1;
    if (role == Role::kOther) break;
    if (role == Role::kSpatial) {
      const bool unit = program_.ExtentOf(*loop) == 1;
      if (!single_child || (best && !best->inner.empty() && !unit) || !AppendSpatial(*loop)) break;
      below_is_reduction = below_is_reduction && unit;
      continue;
    }
    if (!TouchedOnlyByBlock(*loop)) break;
    alone = alone && single_child;
    AccumulatorTile tile{id_, *loop, tile_loops_, {}, {}, false};
    if (best && below_is_reduction) {
      tile.inner = best->inner;
      if (!alone && !tile.inner.empty()) break;
    } else if (!Cost(FullSteps())) {
      if (best || !alone || !Cut(tile)) break;
    }
    best = tile;
    below_is_reduction = true;
  }
  if (best) AbsorbInit(*best);
  return best;
}

}  // namespace

std::vector<AccumulatorTile> PlanAccumulators(const Program& program, const Target& target,
                                              const std::map<BlockId, BlockAccesses>& accesses,
                                              const std::map<LoopId, VectorLoop>& vector_loops) {
  std::vector<AccumulatorTile> tiles;
  for (BlockId block : program.BlocksInOrder()) {
    const BlockKind kind = program.blocks[block].kind;
    if (kind != BlockKind::kReduce && kind != BlockKind::kUpdate) continue;
    TilePlanner planner(program, target, accesses, vector_loops, block);
    if (auto tile = planner.Plan()) tiles.push_back(*tile);
  }
  return tiles;
}

}  // namespace bayloom
