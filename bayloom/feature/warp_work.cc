// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/warp_work.h"

#include <algorithm>

#include "bayloom/feature/gpu_access.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/warp_matrices.h"

namespace bayloom::feature {
namespace {

using target::WarpGroupInstruction;
using target::WarpInstruction;

/// The factor of the product that has its rows.
bool IsRows(const tensor::Access& factor, tensor::DigitId lane_row) {
  return std::ranges::any_of(factor.indices, [&](const auto& index) {
    return index && index->CoefficientOf(lane_row) != 0;
  });
}

bool FactorsAreShared(const GpuProgramShape& shape, const GpuBlockNest& nest) {
  return std::ranges::all_of(nest.accesses, [&](const tensor::Access& access) {
    return access.is_write || shape.spaces[access.buffer] == GpuSpace::kShared;
  });
}

/// Loops directly around the tensorized one that move columns alone belong to the instruction.
void CoverColumns(const tensor::Program& program, const GpuBlockNest& nest,
                  std::vector<tensor::LoopId>::const_iterator tensorized, WarpWork& work) {
  const auto moves = [&](const tensor::Access& access, tensor::LoopId loop) {
    return MovesWith(program, access, loop);
  };
  while (tensorized != nest.serial.begin()) {
    const tensor::LoopId loop = *--tensorized;
    const bool moves_columns =
        std::ranges::all_of(nest.accesses, [&](const tensor::Access& access) {
          const bool is_rows = !access.is_write && IsRows(access, work.lane_row);
          return moves(access, loop) != is_rows || program.ExtentOf(loop) == 1;
        });
    const int64_t columns = work.columns * program.ExtentOf(loop);
    if (!moves_columns || columns > WarpGroupInstruction::kMaxColumns) return;
    work.columns = columns;
    work.covered.insert(work.covered.begin(), loop);
  }
}

}  // namespace

bool WarpWork::Covers(tensor::LoopId loop) const { return std::ranges::count(covered, loop) > 0; }

double WarpWork::Clocks(const target::GpuMachine& gpu) const {
  const double own =
      double{WarpInstruction::kRows} * static_cast<double>(columns) * instruction->depth;
  return group != nullptr ? own / (group->rate * gpu.group_multiply_adds)
                          : own / (instruction->rate * gpu.matrix_multiply_adds);
}

double WarpWork::FactorBytes(const tensor::Program& program, const tensor::Access& factor) const {
  const bool is_rows = IsRows(factor, lane_row);
  // Four warps share the columns.
  const double lines = is_rows ? WarpInstruction::kRows
                       : group != nullptr
                           ? static_cast<double>(columns) / WarpGroupInstruction::kWarps
                           : WarpInstruction::kColumns;
  return lines * instruction->depth * tensor::ByteSize(program.buffers[factor.buffer].dtype);
}

std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const GpuProgramShape& shape,
                                   const GpuBlockNest& nest, const target::GpuMachine& gpu) {
  const auto tensorized = std::ranges::find_if(nest.serial, [&](tensor::LoopId loop) {
    return program.loops[loop].kind == tensor::LoopKind::kTensorized;
  });
  if (tensorized == nest.serial.end() || nest.dealt >= 0 || nest.reduced >= 0) return std::nullopt;
  const auto product = tensor::MatchDotProduct(program.blocks[nest.block]);
  if (!product || product->a.condition.defined() || product->b.condition.defined()) {
    return std::nullopt;
  }
  WarpWork work;
  const std::string a = tensor::ToString(product->a.dtype());
  const std::string b = tensor::ToString(product->b.dtype());
  work.instruction = target::WarpInstructionFor(gpu.capability, a, b);
  work.covered.assign(tensorized, nest.serial.end());
  int64_t parts = 1;
  for (size_t i = 1; i < work.covered.size(); ++i) parts *= program.ExtentOf(work.covered[i]);
  const std::vector<tensor::DigitId> threads = tensor::MovingDigits(program, nest.thread_loops);
  if (work.instruction == nullptr || threads.size() < 2 ||
      program.ExtentOf(*tensorized) != work.instruction->depth ||
      parts != WarpInstruction::kRowParts * WarpInstruction::kColumnParts) {
    return std::nullopt;
  }
  work.lane_row = threads[threads.size() - 2];
  if (program.digit_extents[work.lane_row] != WarpInstruction::kLaneRows ||
      program.digit_extents[threads.back()] != WarpInstruction::kLaneColumns ||
      !FactorsAreShared(shape, nest)) {
    return std::nullopt;
  }
  if (program.blocks[nest.block].annotations.contains(tensor::kWarpGroups) &&
      gpu.group_multiply_adds > 0) {
    work.group = target::WarpGroupInstructionFor(gpu.capability, a, b);
    if (work.group != nullptr) CoverColumns(program, nest, tensorized, work);
  }
  return work;
}

}  // namespace bayloom::feature
