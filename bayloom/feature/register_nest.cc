// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/register_nest.h"

#include <algorithm>
#include <cmath>

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/digits.h"

namespace bayloom::feature {
namespace {

enum class LoopRole : uint8_t { kSpatial, kReduction, kUnit, kOther };

LoopRole RoleOf(const tensor::Program& program, const tensor::Block& block, tensor::LoopId id) {
  const tensor::Loop& loop = program.loops[id];
  if (loop.kind == tensor::LoopKind::kParallel) return LoopRole::kOther;
  if (program.ExtentOf(id) == 1) return LoopRole::kUnit;
  bool spatial = false, reduction = false;
  for (tensor::DigitId digit : loop.digits) {
    if (program.digit_extents[digit] == 1) continue;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (block.bindings[i].CoefficientOf(digit) == 0) continue;
      (block.iters[i].kind == tensor::IterKind::kReduction ? reduction : spatial) = true;
    }
  }
  if (spatial == reduction) return LoopRole::kOther;
  return spatial ? LoopRole::kSpatial : LoopRole::kReduction;
}

/// Only the nest, or it and the block that initializes its output.
bool HasOnlyTheNest(const tensor::Program& program, const tensor::Block& block,
                    tensor::LoopId loop) {
  const std::vector<tensor::NodeRef>& body = program.loops[loop].body;
  if (body.size() == 1) return true;
  if (body.size() != 2) return false;
  const std::vector<tensor::BlockId> first = program.BlocksBelow(body[0]);
  return first.size() == 1 && program.blocks[first[0]].kind == tensor::BlockKind::kInit &&
         program.blocks[first[0]].output == block.output;
}

/// Bytes of the widest type that the block stores or loads.
int ElementBytes(const tensor::Program& program, const tensor::Block& block) {
  int bytes = tensor::ByteSize(program.buffers[block.output].dtype);
  if (!block.value.defined()) return bytes;
  tensor::Visit(block.value, [&](const tensor::Expr& e) {
    if (e->op == tensor::ExprOp::kLoad) {
      bytes = std::max(bytes, tensor::ByteSize(program.buffers[e->index].dtype));
    }
  });
  return bytes;
}

/// The loop's fastest digit, if the loop runs in order and around one thing only; -1 if not.
tensor::DigitId DigitAcross(const tensor::Program& program, tensor::LoopId id) {
  const tensor::Loop& loop = program.loops[id];
  if (!tensor::RunsInOrder(loop.kind) || loop.body.size() != 1) return -1;
  const auto found = std::find_if(loop.digits.rbegin(), loop.digits.rend(),
                                  [&](tensor::DigitId d) { return program.digit_extents[d] > 1; });
  return found == loop.digits.rend() ? -1 : *found;
}

bool CombinesExactTypes(tensor::DType dtype) {
  return dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat64 ||
         dtype == tensor::DType::kInt32 || dtype == tensor::DType::kInt64;
}

/// Whether the loop has one digit, along which something is read contiguously and nothing else in
/// another way (plan/cpu/fold_plan.h).
bool RunsAlongMemory(const tensor::Program& program, tensor::BlockId block, tensor::LoopId loop,
                     const BufferPlaces& places) {
  std::vector<tensor::DigitId> digits = program.loops[loop].digits;
  std::erase_if(digits, [&](tensor::DigitId digit) { return program.digit_extents[digit] == 1; });
  if (digits.size() != 1) return false;
  bool along = false;
  for (const tensor::Access& access : tensor::AccessesOf(program, block)) {
    const auto place = places.OffsetOf(program, access);
    if (!place) return false;
    const int64_t step = place->CoefficientOf(digits[0]);
    if (step != 0 && (step != 1 || access.is_write)) return false;
    along = along || step == 1;
  }
  return along;
}

/// Takes the innermost reduction loop into the lanes where generated code does so.
void FoldReduction(const tensor::Program& program, tensor::BlockId id, const BufferPlaces& places,
                   RegisterNest& nest) {
  const tensor::DType dtype = program.buffers[program.blocks[id].output].dtype;
  if (nest.reduction.empty() || !nest.vectorized.empty() || nest.at_once > 1 ||
      !CombinesExactTypes(dtype)) {
    return;
  }
  const tensor::LoopId loop = nest.reduction.back();
  const auto extent = static_cast<double>(program.ExtentOf(loop));
  if (nest.width == 1 || extent < nest.width || !RunsAlongMemory(program, id, loop, places)) return;
  nest.folds = true;
  nest.vectorized = {loop};
  nest.lanes = extent;
  nest.chunks = std::ceil(extent / nest.width);
}

}  // namespace

RegisterNest RegisterNestOf(const tensor::Program& program, tensor::BlockId id,
                            const std::vector<tensor::LoopId>& loops, const BufferPlaces& places,
                            const target::MachineModel& machine) {
  const tensor::Block& block = program.blocks[id];
  RegisterNest nest;
  nest.width = std::max(1, machine.vector_bytes / ElementBytes(program, block));
  size_t left = loops.size();
  while (left > 0 && program.loops[loops[left - 1]].kind == tensor::LoopKind::kVectorized) {
    nest.vectorized.push_back(loops[--left]);
    nest.lanes *= static_cast<double>(program.ExtentOf(nest.vectorized.back()));
  }
  nest.chunks = std::ceil(nest.lanes / nest.width);
  nest.is_reduction =
      block.kind == tensor::BlockKind::kReduce || block.kind == tensor::BlockKind::kUpdate;
  if (!nest.is_reduction) {
    if (!nest.vectorized.empty() && left > 0) nest.across = DigitAcross(program, loops[left - 1]);
    return nest;
  }
  for (tensor::LoopId loop : loops) {
    if (program.loops[loop].kind != tensor::LoopKind::kTensorized) continue;
    nest.at_once = program.ExtentOf(loop);
    nest.at_once_digit = tensor::OnlyDigit(program, loop);
  }

  double outputs = nest.chunks;
  const auto take_spatial = [&](bool optional) {
    while (left > 0 && HasOnlyTheNest(program, block, loops[left - 1])) {
      const LoopRole role = RoleOf(program, block, loops[left - 1]);
      if (role != LoopRole::kSpatial && role != LoopRole::kUnit) return;
      const int64_t steps = program.ExtentOf(loops[--left]);
      if (role == LoopRole::kUnit) continue;
      nest.tile.insert(nest.tile.begin(), {loops[left], steps, optional ? 1 : steps, optional});
      outputs *= static_cast<double>(steps);
    }
  };
  const auto take_reduction = [&] {
    bool taken = false;
    for (; left > 0; --left) {
      const LoopRole role = RoleOf(program, block, loops[left - 1]);
      if (role != LoopRole::kReduction && role != LoopRole::kUnit) break;
      if (!HasOnlyTheNest(program, block, loops[left - 1])) break;
      if (role == LoopRole::kUnit) continue;
      nest.reduction.insert(nest.reduction.begin(), loops[left - 1]);
      taken = true;
    }
    return taken;
  };
  take_spatial(false);
  nest.in_registers = take_reduction();
  while (nest.in_registers) {
    take_spatial(true);
    if (outputs > machine.vector_registers - 2 || !take_reduction()) break;
    for (RegisterNest::TileLoop& loop : nest.tile) {
      loop.optional = false;
      loop.taken = loop.steps;
    }
  }
  if (nest.in_registers) FoldReduction(program, id, places, nest);
  return nest;
}

}  // namespace bayloom::feature
