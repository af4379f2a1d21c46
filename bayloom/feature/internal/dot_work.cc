// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/internal/dot_work.h"

#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/dot_product.h"

namespace bayloom::feature {
namespace {

constexpr double kWiden = 3;  ///< shifts and masks for even and odd places
constexpr double kChangeSign = 1;

/// Operations for each register that goes into a packed one.
double PackEach(const target::Target& target) {
  return target::HasFeature(target, "avx512vbmi") ? 1 : 2;
}

/// Of products of which `at_once` are summed up together.
std::optional<DotWork> WorkOf(const target::Target& target, const tensor::DotProduct& product,
                              int64_t at_once) {
  const std::string a = tensor::ToString(product.a.dtype());
  const std::string b = tensor::ToString(product.b.dtype());
  const auto method = target::DotMethodFor(target, a, b);
  if (!method) return std::nullopt;
  DotWork work;
  work.pack = PackEach(target) * static_cast<double>(at_once);
  const auto parts = static_cast<double>(at_once / product.depth());
  const bool conditional = product.a.condition.defined() || product.b.condition.defined();
  const target::DotInstruction* tile = target::TileInstructionFor(target, a, b);
  if (tile != nullptr && at_once == tile->depth && !conditional) {
    work.combine = tile->ShareOfRegister();
    return work;
  }
  const target::DotInstruction* matrix = target::MatrixInstructionFor(target, a, b);
  if (matrix != nullptr && at_once == product.matrix_depth()) {
    work.combine = matrix->ShareOfRegister();
    return work;
  }
  work.combine = parts * method->Operations();
  if (method->operands == target::DotOperands::kWidened) {
    work.adapt_first = work.adapt_second = kWiden * parts;
  } else if (method->operands == target::DotOperands::kShifted) {
    // What is taken away is summed up once for each register of the second factor.
    work.adapt_first = kChangeSign;
    work.adapt_second = work.combine;
  }
  return work;
}

}  // namespace

std::optional<DotWork> DotWorkOf(const tensor::Block& block, const target::Target& target,
                                 RegisterNest& nest) {
  const auto product = tensor::MatchDotProduct(block);
  const bool has_lanes = product && nest.at_once > 1 && nest.lanes > 1;
  std::optional<DotWork> work = has_lanes ? WorkOf(target, *product, nest.at_once) : std::nullopt;
  if (!work) {
    nest.at_once = 1;
    nest.at_once_digit = -1;
  }
  return work;
}

}  // namespace bayloom::feature
