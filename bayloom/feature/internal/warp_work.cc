// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/internal/warp_work.h"

#include <algorithm>

#include "bayloom/tensor/dot_product.h"

namespace bayloom::feature {
namespace {

using target::WarpInstruction;

/// The digits of loops over threads that have more than one value, slowest first.
std::vector<tensor::DigitId> ThreadDigits(const tensor::Program& program,
                                          const GpuBlockNest& nest) {
  std::vector<tensor::DigitId> digits;
  for (const tensor::LoopId loop : nest.thread_loops) {
    for (const tensor::DigitId digit : program.loops[loop].digits) {
      if (program.digit_extents[digit] > 1) digits.push_back(digit);
    }
  }
  return digits;
}

bool FactorsAreShared(const GpuProgramShape& shape, const GpuBlockNest& nest) {
  return std::ranges::all_of(nest.accesses, [&](const tensor::Access& access) {
    return access.is_write || shape.spaces[access.buffer] == GpuSpace::kShared;
  });
}

}  // namespace

bool WarpWork::Covers(tensor::LoopId loop) const { return std::ranges::count(covered, loop) > 0; }

double WarpWork::MultiplyAdds() const {
  const double own =
      double{WarpInstruction::kRows} * WarpInstruction::kColumns * instruction->depth;
  return own / instruction->rate;
}

double WarpWork::FactorBytes(const tensor::Program& program, const tensor::Access& factor) const {
  const bool is_rows = std::ranges::any_of(factor.indices, [&](const auto& index) {
    return index && index->CoefficientOf(lane_row) != 0;
  });
  const int lines = is_rows ? WarpInstruction::kRows : WarpInstruction::kColumns;
  return 1.0 * lines * instruction->depth * tensor::ByteSize(program.buffers[factor.buffer].dtype);
}

std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const GpuProgramShape& shape,
                                   const GpuBlockNest& nest, int capability) {
  const auto tensorized = std::ranges::find_if(nest.serial, [&](tensor::LoopId loop) {
    return program.loops[loop].kind == tensor::LoopKind::kTensorized;
  });
  if (tensorized == nest.serial.end() || nest.dealt >= 0 || nest.reduced >= 0) return std::nullopt;
  const auto product = tensor::MatchDotProduct(program.blocks[nest.block]);
  if (!product || product->a.condition.defined() || product->b.condition.defined()) {
    return std::nullopt;
  }
  WarpWork work;
  work.instruction = target::WarpInstructionFor(capability, tensor::ToString(product->a.dtype()),
                                                tensor::ToString(product->b.dtype()));
  work.covered.assign(tensorized, nest.serial.end());
  int64_t parts = 1;
  for (size_t i = 1; i < work.covered.size(); ++i) parts *= program.ExtentOf(work.covered[i]);
  const std::vector<tensor::DigitId> threads = ThreadDigits(program, nest);
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
  return work;
}

}  // namespace bayloom::feature
