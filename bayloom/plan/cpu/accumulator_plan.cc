// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/accumulator_plan.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "bayloom/plan/cpu/load_lines.h"
#include "bayloom/plan/cpu/tile_cost.h"

namespace bayloom::plan {
namespace {

/// What loads across cache lines take.
TileWork WorkOfLoads(const tensor::Program& program, tensor::BlockId block,
                     const BlockAccesses& accesses,
                     const std::map<tensor::LoopId, VectorLoop>& vector_loops) {
  TileWork work;
  for (tensor::LoopId loop : program.LoopsAround(tensor::NodeRef::Block(block))) {
    const auto vector = vector_loops.find(loop);
    if (vector == vector_loops.end()) continue;
    for (const auto& [node, load] : accesses.loads) {
      work.values[node].loads = LinesOf(program, load, vector->second);
    }
  }
  return work;
}

/// Finds the tile of one block by walking outwards from it: spatial loops, reduction loops around
/// them, spatial loops around those; and again, as long as all of it fits into the registers.
class TilePlanner {
 public:
  TilePlanner(const tensor::Program& program, const target::Target& target,
              const std::map<tensor::BlockId, BlockAccesses>& accesses,
              const std::map<tensor::LoopId, VectorLoop>& vector_loops, TileWork work,
              const TileProduct* product, bool may_reorder, tensor::BlockId block)
      : program_(program),
        accesses_(accesses.at(block)),
        cost_(accesses_, product ? TileProduct::kRegisters : target::VectorRegisters(target),
              TileRates::Of(target::MachineOf(target)), std::move(work)),
        vector_loops_(vector_loops),
        product_(product),
        may_reorder_(may_reorder),
        id_(block),
        block_(program.blocks[block]),
        chain_(program.LoopsAround(tensor::NodeRef::Block(block))) {
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      auto& digits = block_.iters[i].kind == tensor::IterKind::kReduction ? reduction_ : spatial_;
      for (const tensor::Affine::Term& term : block_.bindings[i].terms) digits.insert(term.digit);
    }
    tile_.block = block;
    tile_.nest = tensor::NodeRef::Block(block);
  }

  std::optional<AccumulatorTile> Plan();

 private:
  enum class Role { kSpatial, kReduction, kUnit, kOther };
  Role RoleOf(tensor::LoopId loop) const;
  bool TakeSpatialLoops(bool optional);
  bool TakeReductionLoops();
  bool AppendSpatial(tensor::LoopId loop, bool optional);
  bool MeetInOneElement(tensor::LoopId loop) const;
  bool HasOnlyTheNest(tensor::LoopId loop) const;
  bool IsTouchedByOthers(tensor::LoopId loop) const;
  bool FitsWhole() const;
  std::vector<int64_t> ChooseSteps();
  bool PutVectorsFirst(std::vector<TileDigit>& digits, std::vector<tensor::LoopId>& spatial) const;
  void AbsorbInit(tensor::NodeRef before);
  bool CoversTile(tensor::NodeRef init) const;
  bool CoversReduction() const;

  const tensor::Program& program_;
  const BlockAccesses& accesses_;
  const TileCost cost_;
  const std::map<tensor::LoopId, VectorLoop>& vector_loops_;
  const TileProduct* product_;  ///< if the sums are in tile registers
  const bool may_reorder_;
  const tensor::BlockId id_;
  const tensor::Block& block_;
  std::vector<tensor::LoopId> chain_;  ///< loops not walked over yet
  std::set<tensor::DigitId> spatial_, reduction_;
  AccumulatorTile tile_;
  std::vector<TileDigit> digits_;
};

TilePlanner::Role TilePlanner::RoleOf(tensor::LoopId id) const {
  const tensor::Loop& loop = program_.loops[id];
  bool spatial = true, reduction = true;
  for (tensor::DigitId digit : loop.digits) {
    if (program_.digit_extents[digit] == 1) continue;
    spatial = spatial && spatial_.contains(digit) && !reduction_.contains(digit);
    reduction = reduction && reduction_.contains(digit) && !spatial_.contains(digit);
  }
  const bool in_order = tensor::RunsInOrder(loop.kind);
  if (!in_order && loop.kind != tensor::LoopKind::kVectorized) return Role::kOther;
  if (program_.ExtentOf(id) == 1) return Role::kUnit;
  if (spatial) return Role::kSpatial;
  return reduction && in_order ? Role::kReduction : Role::kOther;
}

/// True if steps of the loop and of the loops in the tile are at the same element, as those of
/// tiles that overlap.
bool TilePlanner::MeetInOneElement(tensor::LoopId id) const {
  std::vector<tensor::LoopId> loops = tile_.spatial;
  loops.push_back(id);
  std::vector<std::pair<int64_t, int64_t>> steps;  // by size, with what they reach
  for (tensor::LoopId loop : loops) {
    for (tensor::DigitId digit : program_.loops[loop].digits) {
      const int64_t extent = program_.digit_extents[digit];
      if (extent == 1) continue;
      const int64_t step = std::abs(accesses_.store.affine.CoefficientOf(digit));
      steps.emplace_back(step, step * (extent - 1));
    }
  }
  std::ranges::sort(steps);
  int64_t reached = 0;
  for (const auto& [step, reach] : steps) {
    if (step <= reached) return true;
    reached += reach;
  }
  return false;
}

/// Puts a loop's digits in front of the tile; false when two steps would meet in one element.
bool TilePlanner::AppendSpatial(tensor::LoopId id, bool optional) {
  std::vector<TileDigit> digits;
  const auto vector = vector_loops_.find(id);
  if (vector == vector_loops_.end()) {
    if (program_.loops[id].kind == tensor::LoopKind::kVectorized)
      return !optional;  // part of one around
    for (tensor::DigitId digit : program_.loops[id].digits) {
      const int64_t unit = product_ && product_->fill.row_digit == digit ? product_->fill.rows : 1;
      digits.push_back({digit, program_.digit_extents[digit] / unit, unit, true, optional});
    }
  } else {
    const VectorLoop& plan = vector->second;
    for (tensor::DigitId digit : plan.outer)
      digits.push_back({digit, program_.digit_extents[digit]});
    const auto chunks = static_cast<int64_t>(plan.Chunks().size());
    const bool even = plan.lane_count == chunks * plan.width && plan.lanes.size() == 1;
    digits.push_back({plan.lanes.back(), chunks, plan.width, even});
  }
  if (MeetInOneElement(id)) return false;
  digits_.insert(digits_.begin(), digits.begin(), digits.end());
  tile_.spatial.insert(tile_.spatial.begin(), id);
  return true;
}

bool TilePlanner::HasOnlyTheNest(tensor::LoopId loop) const {
  const std::vector<tensor::NodeRef>& body = program_.loops[loop].body;
  return body.size() == 1 || (body.size() == 2 && body[0] == tile_.init);
}

bool TilePlanner::IsTouchedByOthers(tensor::LoopId loop) const {
  for (tensor::BlockId other : program_.BlocksBelow(tensor::NodeRef::Loop(loop))) {
    if (other == id_) continue;
    for (const tensor::Access& access : tensor::AccessesOf(program_, other)) {
      if (access.buffer == block_.output) return true;
    }
  }
  return false;
}

bool TilePlanner::TakeSpatialLoops(bool optional) {
  bool taken = false;
  while (!chain_.empty() && HasOnlyTheNest(chain_.back())) {
    const tensor::LoopId loop = chain_.back();
    const Role role = RoleOf(loop);
    if (role != Role::kSpatial && role != Role::kUnit) break;
    if (!AppendSpatial(loop, optional)) break;
    tile_.nest = tensor::NodeRef::Loop(loop);
    if (optional) tile_.root = loop;
    chain_.pop_back();
    taken = true;
  }
  return taken;
}

bool TilePlanner::TakeReductionLoops() {
  bool taken = false;
  for (; !chain_.empty(); chain_.pop_back()) {
    const tensor::LoopId loop = chain_.back();
    const Role role = RoleOf(loop);
    if (role != Role::kReduction && role != Role::kUnit) break;
    if (IsTouchedByOthers(loop) || (!HasOnlyTheNest(loop) && !FitsWhole())) break;
    taken = taken || role == Role::kReduction;
    tile_.alone = tile_.alone && HasOnlyTheNest(loop);
    if (tile_.alone) {
      tile_.nest = tensor::NodeRef::Loop(loop);
      tile_.reduction.insert(tile_.reduction.begin(), loop);
    }
    tile_.root = tile_.top = loop;
  }
  return taken;
}

bool TilePlanner::FitsWhole() const {
  std::vector<int64_t> steps;
  for (const TileDigit& digit : digits_) steps.push_back(digit.steps);
  return cost_.Of(digits_, steps).has_value();
}

bool TilePlanner::CoversReduction() const {
  std::set<tensor::DigitId> outside;
  for (tensor::LoopId loop : chain_) {
    outside.insert(program_.loops[loop].digits.begin(), program_.loops[loop].digits.end());
  }
  return std::ranges::all_of(reduction_, [&](tensor::DigitId digit) {
    return !outside.contains(digit) || program_.digit_extents[digit] == 1;
  });
}

/// True if `init` writes just the tile: the same element outside its loops, the same strides and
/// extents inside.
bool TilePlanner::CoversTile(tensor::NodeRef init) const {
  const std::vector<tensor::BlockId> blocks = program_.BlocksBelow(init);
  if (blocks.size() != 1) return false;
  const tensor::Block& block = program_.blocks[blocks[0]];
  if (block.kind != tensor::BlockKind::kInit || block.output != block_.output) return false;
  std::set<tensor::DigitId> in_init, in_tile;
  const std::vector<tensor::LoopId> init_loops =
      program_.LoopsAround(tensor::NodeRef::Block(blocks[0]));
  for (size_t i = program_.LoopsAround(init).size(); i < init_loops.size(); ++i) {
    const std::vector<tensor::DigitId>& digits = program_.loops[init_loops[i]].digits;
    in_init.insert(digits.begin(), digits.end());
  }
  for (tensor::LoopId loop : tile_.spatial) {
    const std::vector<tensor::DigitId>& digits = program_.loops[loop].digits;
    in_tile.insert(digits.begin(), digits.end());
  }
  // Per dimension: (part outside, sorted strides and extents inside).
  using Walk = std::pair<tensor::Affine, std::vector<std::pair<int64_t, int64_t>>>;
  const auto walk = [&](const tensor::Expr& index, const tensor::Block& of,
                        const std::set<tensor::DigitId>& inside) {
    Walk result;
    const auto affine = tensor::ComposeIndex(index, of.bindings);
    result.first.constant = affine->constant;
    for (const tensor::Affine::Term& term : affine->terms) {
      const int64_t extent = program_.digit_extents[term.digit];
      if (extent == 1) continue;
      if (inside.contains(term.digit)) {
        result.second.emplace_back(term.coefficient, extent);
      } else {
        result.first.Add(term.digit, term.coefficient);
      }
    }
    std::ranges::sort(result.second);
    return result;
  };
  for (size_t d = 0; d < block_.output_index.size(); ++d) {
    if (walk(block.output_index[d], block, in_init) !=
        walk(block_.output_index[d], block_, in_tile)) {
      return false;
    }
  }
  return true;
}

/// Looks for a superfluous kInit among the siblings before a node.
void TilePlanner::AbsorbInit(tensor::NodeRef before) {
  if (block_.kind == tensor::BlockKind::kReduce) {
    tile_.starts_neutral = CoversReduction();
    return;
  }
  if (tile_.starts_neutral) return;
  const std::vector<tensor::NodeRef>& siblings = program_.BodyOf(program_.ParentOf(before));
  for (auto node = std::ranges::find(siblings, before); node-- != siblings.begin();) {
    if (CoversTile(*node)) {
      tile_.init = *node;
      tile_.starts_neutral = true;
      return;
    }
    if (node->is_block() || IsTouchedByOthers(node->id)) return;
  }
}

/// Brings the vectorized loop to the front: each of its registers is then loaded once and used at
/// all other positions in turn, instead of all of them being kept while rows are gone through.
/// False if it is there, or there is none.
bool TilePlanner::PutVectorsFirst(std::vector<TileDigit>& digits,
                                  std::vector<tensor::LoopId>& spatial) const {
  const auto is_vectorized = [&](tensor::LoopId loop) { return vector_loops_.contains(loop); };
  const auto loop = std::ranges::find_if(spatial, is_vectorized);
  if (loop == spatial.end() || loop == spatial.begin()) return false;
  const VectorLoop& vector = vector_loops_.at(*loop);
  if (vector.loops.size() > 1) return false;
  std::ranges::stable_partition(digits, [&](const TileDigit& digit) {
    return digit.digit == vector.lanes.back() ||
           std::ranges::find(vector.outer, digit.digit) != vector.outer.end();
  });
  std::rotate(spatial.begin(), loop, loop + 1);
  return true;
}

/// The best steps for each digit; puts vectors first where that is clearly better.
std::vector<int64_t> TilePlanner::ChooseSteps() {
  constexpr double kClearly = 0.97;
  std::vector<int64_t> steps = cost_.Best(digits_);
  std::vector<TileDigit> digits = digits_;
  std::vector<tensor::LoopId> spatial = tile_.spatial;
  if (!may_reorder_ || !PutVectorsFirst(digits, spatial)) return steps;
  std::vector<int64_t> other = cost_.Best(digits);
  if (other.empty()) return steps;
  if (!steps.empty() && *cost_.Of(digits, other) >= kClearly * *cost_.Of(digits_, steps)) {
    return steps;
  }
  digits_ = std::move(digits);
  tile_.spatial = std::move(spatial);
  return other;
}

std::optional<AccumulatorTile> TilePlanner::Plan() {
  TakeSpatialLoops(false);
  if (!TakeReductionLoops()) return std::nullopt;
  AbsorbInit(tensor::NodeRef::Loop(tile_.top));
  while (tile_.alone) {
    const bool more = TakeSpatialLoops(true);
    if (more) AbsorbInit(tensor::NodeRef::Loop(tile_.root));
    const bool reduction_around = !chain_.empty() && RoleOf(chain_.back()) == Role::kReduction;
    if (!reduction_around || !FitsWhole() || IsTouchedByOthers(chain_.back())) break;
    // Everything so far goes inside of the next reduction loops.
    for (TileDigit& digit : digits_) digit.optional = false;
    TakeReductionLoops();
    AbsorbInit(tensor::NodeRef::Loop(tile_.top));
  }
  const std::vector<int64_t> steps = ChooseSteps();
  if (steps.empty() && !digits_.empty()) return std::nullopt;
  tile_.loads_in_turn = product_ == nullptr && !cost_.HasSpareRegisters(digits_, steps);
  for (size_t i = 0; i < digits_.size(); ++i) {
    const TileDigit& digit = digits_[i];
    if (steps[i] == digit.steps) continue;
    if (!tile_.alone) return std::nullopt;
    tile_.cuts.push_back({digit.digit, steps[i] * digit.unit});
  }
  return tile_;
}

}  // namespace

int64_t AccumulatorTile::StepsOf(const tensor::Program& program, tensor::DigitId digit) const {
  for (const Cut& cut : cuts) {
    if (cut.digit == digit) return cut.steps;
  }
  return program.digit_extents[digit];
}

std::vector<AccumulatorTile> PlanAccumulators(
    const tensor::Program& program, const target::Target& target,
    const std::map<tensor::BlockId, BlockAccesses>& accesses,
    const std::map<tensor::LoopId, VectorLoop>& vector_loops,
    const std::map<tensor::BlockId, DotPlan>& dots,
    const std::map<tensor::BlockId, TileProduct>& tile_products) {
  std::vector<AccumulatorTile> tiles;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    const tensor::BlockKind kind = program.blocks[block].kind;
    if (kind != tensor::BlockKind::kReduce && kind != tensor::BlockKind::kUpdate) continue;
    const auto dot = dots.find(block);
    const auto found = tile_products.find(block);
    const TileProduct* product = found == tile_products.end() ? nullptr : &found->second;
    TileWork work = product ? TileWork{}
                    : dot == dots.end()
                        ? WorkOfLoads(program, block, accesses.at(block), vector_loops)
                        : WorkOf(dot->second, accesses.at(block));
    // What a dot product takes away from shifted operands is computed at the first position.
    const bool may_reorder = dot == dots.end() && product == nullptr;
    TilePlanner planner(program, target, accesses, vector_loops, std::move(work), product,
                        may_reorder, block);
    if (auto tile = planner.Plan()) tiles.push_back(std::move(*tile));
  }
  return tiles;
}

}  // namespace bayloom::plan
