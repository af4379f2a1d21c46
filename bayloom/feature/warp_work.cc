// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/warp_work.h"

#include <algorithm>

namespace bayloom::feature {

using target::MmaInstruction;
using target::WgmmaInstruction;

bool WarpWork::Covers(tensor::LoopId loop) const { return std::ranges::count(covered, loop) > 0; }

double WarpWork::Clocks(const target::GpuMachine& gpu) const {
  const double products = static_cast<double>(MmaInstruction::kRows * columns * depth);
  return products / (rate * (by_groups ? gpu.group_multiply_adds : gpu.matrix_multiply_adds));
}

double WarpWork::FactorBytes(const tensor::Program& program, const tensor::Access& factor) const {
  const double own = static_cast<double>(columns) / (by_groups ? WgmmaInstruction::kWarps : 1);
  const double lines = factor.buffer == rows ? MmaInstruction::kRows : own;
  return lines * static_cast<double>(depth) *
         tensor::ByteSize(program.buffers[factor.buffer].dtype);
}

std::optional<WarpWork> WarpWorkOf(const tensor::Program& program, const plan::GpuPlan& plan,
                                   const GpuBlockNest& nest) {
  const auto loop =
      std::ranges::find_if(nest.serial, [&](tensor::LoopId id) { return plan.IsProduct(id); });
  if (loop == nest.serial.end()) return std::nullopt;
  WarpWork work;
  work.columns = MmaInstruction::kColumns;
  work.covered.assign(loop, nest.serial.end());
  if (const auto warp = plan.warp_products.find(*loop); warp != plan.warp_products.end()) {
    const plan::WarpProduct& product = warp->second;
    work.depth = product.instruction->depth;
    work.rate = product.instruction->rate;
    work.rows = product.rows.buffer;
    return work;
  }
  const plan::WarpGroupProduct& product = plan.group_products.at(*loop);
  work.by_groups = true;
  work.depth = product.instruction->depth;
  work.rate = product.instruction->rate;
  work.rows = product.rows.buffer;
  for (const tensor::DigitId digit : product.matrices) {
    work.columns *= program.digit_extents[digit];
  }
  return work;
}

}  // namespace bayloom::feature
