// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/cpu_plan.h"

#include <algorithm>

#include "bayloom/tensor/library_call.h"

namespace bayloom::plan {
namespace {

bool IsForCpu(tensor::LoopKind kind) {
  return kind <= tensor::LoopKind::kUnrolled || kind == tensor::LoopKind::kTensorized;
}

/// All live loops, outer ones before inner ones.
std::vector<tensor::LoopId> LoopsBelow(const tensor::Program& program, tensor::NodeRef node) {
  std::vector<tensor::LoopId> loops;
  for (tensor::NodeRef child : program.BodyOf(node)) {
    if (!child.is_loop()) continue;
    loops.push_back(child.id);
    const std::vector<tensor::LoopId> below = LoopsBelow(program, child);
    loops.insert(loops.end(), below.begin(), below.end());
  }
  return loops;
}

void LeaveOut(const tensor::Program& program, tensor::NodeRef nest, CpuPlan& plan) {
  if (nest.is_loop()) plan.absorbed_loops.insert(nest.id);
  for (tensor::BlockId block : program.BlocksBelow(nest)) plan.absorbed.insert(block);
}

/// Whether the tile has whole registers of the product's rows and runs all of its groups.
bool HoldsProduct(const tensor::Program& program, const AccumulatorTile& tile,
                  const TileProduct& product) {
  const bool has_rows = std::ranges::any_of(tile.spatial, [&](tensor::LoopId loop) {
    return std::ranges::count(program.loops[loop].digits, product.fill.row_digit) > 0;
  });
  const bool has_groups = product.fill.group_loop < 0 ||
                          std::ranges::count(tile.reduction, product.fill.group_loop) > 0;
  return tile.alone && has_rows && has_groups &&
         tile.StepsOf(program, product.fill.row_digit) % product.fill.rows == 0;
}

}  // namespace

std::optional<tensor::DigitId> CpuPlan::DigitAtOnce(tensor::LoopId loop) const {
  for (const auto& [block, dot] : dots) {
    if (dot.loop == loop) return dot.digit;
  }
  for (const auto& [block, product] : tile_products) {
    if (product.fill.group_loop == loop) return product.fill.group_digit;
  }
  return std::nullopt;
}

TileWork WorkOf(const CpuPlan& plan, tensor::BlockId block) {
  TileWork work;
  if (const auto product = plan.tile_products.find(block); product != plan.tile_products.end()) {
    const target::DotInstruction& instruction = *product->second.instruction;
    const tensor::TileFill& fill = product->second.fill;
    work.combine = instruction.interval * instruction.operations /
                   static_cast<double>(fill.rows * fill.groups);
    return work;
  }
  const auto dot = plan.dots.find(block);
  if (dot == plan.dots.end()) return work;
  work = WorkOf(dot->second, plan.accesses.at(block));
  if (dot->second.matrix != nullptr && !plan.pairs.contains(block)) {
    work.combine = static_cast<double>(dot->second.parts * dot->second.method.Operations());
  }
  return work;
}

Result<CpuPlan> PlanCpuNests(const tensor::Program& program, const target::Target& target) {
  CpuPlan plan;
  plan.memory = PlanMemory(program);
  if (tensor::AsCall(program)) return plan;
  for (tensor::BlockId block : program.BlocksInOrder()) {
    if (program.blocks[block].guarded) {
      return Error{"'" + program.name +
                   "' cannot run on a processor: " + program.blocks[block].name + " is guarded"};
    }
    Result<BlockAccesses> accesses =
        PlaceLoadsAndStore(program, plan.memory, program.blocks[block]);
    if (!accesses) return accesses.error();
    plan.accesses.emplace(block, std::move(*accesses));
  }
  plan.open = PlanOpenDigits(program);
  std::set<tensor::LoopId> inside_vector;
  for (tensor::LoopId loop : LoopsBelow(program, tensor::NodeRef::Root())) {
    const tensor::LoopKind kind = program.loops[loop].kind;
    if (!IsForCpu(kind)) {
      return Error{"'" + program.name +
                   "' has a loop bound to accelerator threads, which a CPU "
                   "has not"};
    }
    if (kind != tensor::LoopKind::kVectorized) continue;
    if (inside_vector.contains(loop)) continue;
    if (auto vector = PlanVectorLoop(program, target, plan.accesses, loop)) {
      inside_vector.insert(vector->loops.begin(), vector->loops.end());
      plan.vector_loops.emplace(loop, std::move(*vector));
    }
  }
  plan.across = PlanAcrossLoops(program, plan.accesses, plan.vector_loops);
  plan.dots = PlanDots(program, target, plan.accesses, plan.vector_loops);
  for (const auto& [block, dot] : plan.dots) {
    if (auto product = PlanTileProduct(program, target, dot, block, plan.accesses.at(block),
                                       plan.vector_loops)) {
      plan.tile_products.emplace(block, *std::move(product));
    }
  }
  std::vector<AccumulatorTile> tiles = PlanAccumulators(
      program, target, plan.accesses, plan.vector_loops, plan.dots, plan.tile_products);
  std::erase_if(plan.tile_products, [&](const auto& product) {
    return std::ranges::none_of(tiles, [&](const AccumulatorTile& tile) {
      return tile.block == product.first && HoldsProduct(program, tile, product.second);
    });
  });
  for (AccumulatorTile& tile : tiles) {
    const auto [place, added] = plan.tiles.emplace(tile.root, std::move(tile));
    if (!added) continue;
    if (place->second.init != tensor::NodeRef::Root()) LeaveOut(program, place->second.init, plan);
    if (const auto dot = plan.dots.find(place->second.block); dot != plan.dots.end()) {
      if (const auto pairs = PlanRowPairs(program, dot->second, plan.accesses.at(dot->first),
                                          place->second, plan.vector_loops)) {
        plan.pairs.emplace(dot->first, *pairs);
      }
    }
    if (auto epilogue = PlanEpilogue(program, plan.memory, place->second)) {
      LeaveOut(program, epilogue->nest, plan);
      plan.epilogues.emplace(place->second.block, *std::move(epilogue));
    }
  }
  plan.folds = PlanFolds(program, target, plan.accesses, plan.vector_loops, plan.dots, plan.tiles);
  if (Status status = PlanUnrolling(program, plan); !status) return status.error();
  return plan;
}

Result<CpuPlan> MakeCpuPlan(const tensor::Program& program, const target::Target& target) {
  Result<CpuPlan> plan = PlanCpuNests(program, target);
  if (!plan) return plan;
  for (auto& [block, accesses] : plan->accesses) {
    AddAffineExpressions(program.blocks[block], accesses);
  }
  for (auto& [block, epilogue] : plan->epilogues) {
    AddAffineExpressions(epilogue.block, epilogue.accesses);
  }
  plan->hoisted = PlanHoisting(program);
  plan->scales_by_powers = target::UsesAvx512(target);
  return plan;
}

}  // namespace bayloom::plan
