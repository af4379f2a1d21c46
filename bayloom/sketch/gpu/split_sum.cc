// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/internal/gpu/gpu_rules.h"

namespace bayloom::sketch {
namespace {

/// Iterations of the iterator that a part has are a multiple of so many: a panel's row of elements
/// of 16 bits.
constexpr int64_t kPartStep = 64;
/// Iterations of the sum that a part has at least.
constexpr int64_t kMinPart = 128;
/// Elements of tiles of 64 x 64 that give each multiprocessor of a large GPU one.
constexpr int64_t kFillingElements = int64_t{128} * 64 * 64;

/// The reduction that can be split so, the longest one; -1 if none can.
int SplitIter(const tensor::Block& block, int64_t parts) {
  int longest = -1;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const int64_t extent = block.iters[i].extent;
    if (block.iters[i].kind != tensor::IterKind::kReduction) continue;
    if (extent % (parts * kPartStep) != 0) continue;
    if (longest < 0 || extent > block.iters[static_cast<size_t>(longest)].extent) {
      longest = static_cast<int>(i);
    }
  }
  return longest;
}

/// What combines the parts is computed, and stored or used by its only reader, an element a thread.
Status PlaceCombination(tensor::Schedule& schedule, tensor::BlockVar block) {
  Result<tensor::BlockVar> epilogue = EpilogueOf(schedule, block);
  if (!epilogue) return epilogue.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(block);
  if (!loops) return loops.error();
  if (loops->size() < 2) return Error{"nothing to deal to threads"};
  return schedule.ReverseComputeAt(*epilogue, (*loops)[loops->size() - 2]);
}

Result<std::string> Split(GpuSketch& sketch, const std::string& name, int iter, int64_t parts) {
  tensor::Schedule& schedule = sketch.schedule;
  Result<tensor::BlockVar> block = schedule.GetBlock(name);
  if (!block) return block.error();
  Result<std::vector<tensor::LoopVar>> loops = schedule.GetLoops(*block);
  if (!loops) return loops.error();
  Result<std::vector<tensor::LoopVar>> split =
      schedule.Split((*loops)[static_cast<size_t>(iter)], {parts, -1});
  if (!split) return split.error();
  Result<tensor::BlockVar> partial = schedule.RFactor(*block, split->front());
  if (!partial) return partial.error();
  // The order of its iterators.
  (*loops)[static_cast<size_t>(iter)] = split->back();
  loops->insert(loops->begin(), split->front());
  if (Status s = schedule.Reorder(*loops); !s) return s.error();
  if (Status s = PlaceCombination(schedule, *block); !s) return s.error();
  return schedule.program().blocks[schedule.Get(*partial)].name;
}

}  // namespace

Result<std::string> SplitSum(GpuSketch& sketch, const std::string& name, int64_t parts) {
  const tensor::Program& program = sketch.schedule.program();
  const tensor::Block& block = program.blocks[program.FindBlock(name)];
  const int iter = SplitIter(block, parts);
  if (iter < 0 || ReductionExtent(block) < parts * kMinPart) {
    return Error{fmt::format("the sum of {} is too short for {} parts", name, parts)};
  }
  if (SpatialExtent(block) * (parts / 2) >= kFillingElements) {
    return Error{fmt::format("{} fills the GPU with fewer than {} parts", name, parts)};
  }
  GpuSketch copy = sketch;
  Result<std::string> partial = Split(copy, name, iter, parts);
  if (partial) sketch = std::move(copy);
  return partial;
}

int PartsOfSum(const tensor::Block& block) {
  const auto count = static_cast<int>(block.iters.size());
  const auto is_part_of = [&](int part, int rest) {
    const int64_t extent = block.iters[static_cast<size_t>(rest)].extent;
    bool is_part = true;
    tensor::Visit(block.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      bool moves = false;
      for (const tensor::Expr& index : e->operands) {
        const auto form = tensor::ToLinear(index, count);
        if (!form) continue;
        const int64_t step = form->coefficients[static_cast<size_t>(rest)];
        moves |= step != 0;
        is_part &= form->coefficients[static_cast<size_t>(part)] == step * extent;
      }
      is_part &= moves;
    });
    return is_part;
  };
  for (int part = 0; part < count; ++part) {
    if (block.iters[static_cast<size_t>(part)].kind != tensor::IterKind::kSpatial) continue;
    for (int rest = 0; rest < count; ++rest) {
      const bool reduces =
          block.iters[static_cast<size_t>(rest)].kind == tensor::IterKind::kReduction;
      if (reduces && is_part_of(part, rest)) return part;
    }
  }
  return -1;
}

}  // namespace bayloom::sketch
