// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/internal/register_nest.h"

#include <algorithm>
#include <cmath>

#include "bayloom/tensor/dot_product.h"

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

}  // namespace

RegisterNest RegisterNestOf(const tensor::Program& program, tensor::BlockId id,
                            const std::vector<tensor::LoopId>& loops,
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
  if (!nest.is_reduction) return nest;
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
  return nest;
}

}  // namespace bayloom::feature
