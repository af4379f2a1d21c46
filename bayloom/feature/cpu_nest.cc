// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/cpu_nest.h"

#include <algorithm>
#include <ranges>

#include "bayloom/plan/cpu/fold_plan.h"

namespace bayloom::feature {
namespace {

template <typename Map, typename Key>
auto* Find(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

class NestBuilder {
 public:
  NestBuilder(const tensor::Program& program, const plan::CpuPlan& plan, tensor::BlockId block)
      : program_(program), plan_(plan), block_(block) {}

  CpuNest Build() {
    const tensor::BlockKind kind = program_.blocks[block_].kind;
    nest_.loops = program_.LoopsAround(tensor::NodeRef::Block(block_));
    nest_.is_reduction = kind == tensor::BlockKind::kReduce || kind == tensor::BlockKind::kUpdate;
    for (const auto& [root, tile] : plan_.tiles) {
      if (tile.block == block_) nest_.tile = &tile;
    }
    for (tensor::LoopId loop : nest_.loops) {
      if (const auto* across = Find(plan_.across, loop)) nest_.across = across->digit;
      if (const auto* vector = Find(plan_.vector_loops, loop)) nest_.vector = vector;
    }
    nest_.dot = Find(plan_.dots, block_);
    if (nest_.vector) nest_.registers = nest_.chunks = std::ssize(nest_.vector->Chunks());
    nest_.tile ? TakeTile() : TakeUnrolled();
    SetMasks();
    return std::move(nest_);
  }

 private:
  bool IsInVector(tensor::LoopId loop) const {
    return nest_.vector && std::ranges::count(nest_.vector->loops, loop) > 0;
  }

  void AddSteps(tensor::DigitId digit, int64_t count) {
    if (count > 1) nest_.steps.push_back({digit, count});
  }

  void TakeTile() {
    const plan::AccumulatorTile& tile = *nest_.tile;
    for (tensor::LoopId loop : tile.spatial) {
      const bool is_vector = IsInVector(loop);
      for (tensor::DigitId digit : is_vector ? nest_.vector->outer : program_.loops[loop].digits) {
        AddSteps(digit, tile.StepsOf(program_, digit));
      }
      if (!is_vector) continue;
      const tensor::DigitId lane = nest_.vector->lanes.back();
      nest_.registers /= program_.digit_extents[lane] / tile.StepsOf(program_, lane);
    }
    bool inside = false;
    for (tensor::LoopId loop : nest_.loops) {
      inside = inside || loop == tile.top;
      const bool is_spatial = IsInVector(loop) || std::ranges::count(tile.spatial, loop) > 0;
      if (inside && !is_spatial && program_.ExtentOf(loop) > 1) nest_.reduction.push_back(loop);
    }
    if (const auto* fold = Find(plan_.folds, block_)) TakeFold(*fold);
    CountReductionSteps();
  }

  void TakeFold(const plan::VectorLoop& fold) {
    nest_.folds = true;
    nest_.vector = &fold;
    nest_.chunks = std::ssize(fold.Chunks());
    nest_.registers = 1;
    nest_.registers = plan::FoldRegisters(fold, nest_.Sums());
  }

  /// Of the innermost reduction loops, of which some are straight code.
  void CountReductionSteps() {
    double straight = 1;
    for (tensor::LoopId loop : std::views::reverse(nest_.reduction)) {
      if (nest_.dot && nest_.dot->loop == loop) continue;
      const bool is_fold = nest_.folds && loop == nest_.reduction.back();
      if (!is_fold && !plan_.unrolled.contains(loop)) {
        nest_.loop_steps = 1 / straight;
        return;
      }
      if (is_fold && nest_.chunks > plan::kMaxChunks && !plan_.unrolled.contains(loop)) {
        nest_.loop_steps = 1;
        return;
      }
      nest_.unrolls_reduction |= !is_fold && straight == 1;
      straight *= is_fold ? static_cast<double>(nest_.chunks) / nest_.registers
                          : static_cast<double>(program_.ExtentOf(loop));
    }
  }

  /// The innermost loops that are straight code around a block that keeps nothing in registers.
  void TakeUnrolled() {
    if (nest_.chunks > plan::kMaxChunks) {
      nest_.loop_steps = static_cast<double>(nest_.chunks);
      return;
    }
    double straight = 1;
    for (tensor::LoopId loop : std::views::reverse(nest_.loops)) {
      const bool is_vector = IsInVector(loop);
      if (is_vector && loop != nest_.vector->loops.front()) continue;
      const std::vector<tensor::DigitId>& digits =
          is_vector ? nest_.vector->outer : program_.loops[loop].digits;
      double extent = 1;
      for (tensor::DigitId digit : digits) {
        extent *= static_cast<double>(program_.digit_extents[digit]);
      }
      if (extent == 1 || (nest_.dot && nest_.dot->loop == loop)) continue;
      if (!plan_.unrolled.contains(loop)) {
        nest_.loop_steps = 1 / straight;
        return;
      }
      if (program_.loops[loop].body.size() > 1) return;
      straight *= extent;
      for (tensor::DigitId digit : std::views::reverse(digits)) {
        if (program_.digit_extents[digit] == 1) continue;
        nest_.steps.insert(nest_.steps.begin(), {digit, program_.digit_extents[digit]});
      }
    }
  }

  void SetMasks() {
    nest_.masks.assign(program_.digit_extents.size(), 0);
    for (size_t i = 0; i < nest_.steps.size(); ++i) {
      nest_.masks[nest_.steps[i].digit] |= LoopMask{1} << (kFirstStep + i);
    }
    for (tensor::LoopId loop : nest_.reduction) {
      for (tensor::DigitId digit : program_.loops[loop].digits) {
        nest_.masks[digit] |= kReductionMask;
      }
    }
    if (!nest_.vector) return;
    for (tensor::DigitId digit : nest_.vector->lanes) nest_.masks[digit] |= kVector;
  }

  const tensor::Program& program_;
  const plan::CpuPlan& plan_;
  const tensor::BlockId block_;
  CpuNest nest_;
};

}  // namespace

int64_t CpuNest::ValuesOf(LoopMask mask) const {
  int64_t values = (mask & kVector) != 0 ? registers : 1;
  for (size_t i = 0; i < steps.size(); ++i) {
    if ((mask >> (kFirstStep + i) & 1) != 0) values *= steps[i].count;
  }
  return values;
}

LoopMask CpuNest::MaskOf(const tensor::Affine& affine) const {
  LoopMask mask = 0;
  for (const tensor::Affine::Term& term : affine.terms) mask |= masks[term.digit];
  return mask;
}

CpuNest CpuNestOf(const tensor::Program& program, const plan::CpuPlan& plan,
                  tensor::BlockId block) {
  return NestBuilder(program, plan, block).Build();
}

CpuNest EpilogueNestOf(const tensor::Program& program, const CpuNest& reduction) {
  CpuNest nest = reduction;
  nest.is_reduction = false;
  nest.dot = nullptr;
  nest.loop_steps = 0;
  if (reduction.folds) {
    nest.folds = false;
    nest.vector = nullptr;
    nest.chunks = nest.registers = 1;
  }
  for (tensor::LoopId loop : reduction.reduction) {
    for (tensor::DigitId digit : program.loops[loop].digits) nest.masks[digit] = 0;
    std::erase(nest.loops, loop);
  }
  nest.reduction.clear();
  return nest;
}

}  // namespace bayloom::feature
