// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/dot_work.h"

#include "bayloom/target/dot_instruction.h"
#include "bayloom/tensor/access.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/tile_registers.h"

namespace bayloom::feature {
namespace {

constexpr double kWiden = 3;  ///< shifts and masks for even and odd places
constexpr double kChangeSign = 1;

/// Operations for each register that goes into a packed one.
double PackEach(const target::Target& target) {
  return target::HasFeature(target, "avx512vbmi") ? 1 : 2;
}

/// What a register's products take in an instruction for tile registers; nullopt where there is
/// none for them, or they do not lie as it takes them.
std::optional<double> InTileRegisters(const tensor::Program& program, tensor::BlockId id,
                                      const BufferPlaces& places, const target::Target& target,
                                      const tensor::DotProduct& product, const RegisterNest& nest) {
  constexpr double kLanes = 16;
  if (product.a.condition.defined() || product.b.condition.defined()) return std::nullopt;
  if (nest.vectorized.size() != 1 || nest.width > kLanes) return std::nullopt;
  const tensor::DigitId lane = tensor::OnlyDigit(program, nest.vectorized[0]);
  const auto offset = [&](const tensor::DotFactor& factor) {
    tensor::Access access{factor.load->index, false, {}};
    for (const tensor::Expr& index : factor.load->operands) {
      access.indices.push_back(tensor::ComposeIndex(index, program.blocks[id].bindings));
    }
    return places.OffsetOf(program, access);
  };
  const std::optional<tensor::Affine> a = offset(product.a), b = offset(product.b);
  if (lane < 0 || !a || !b) return std::nullopt;
  const auto with = [&](const tensor::DotFactor& rows, const tensor::Affine& of_rows,
                        const tensor::DotFactor& columns,
                        const tensor::Affine& of_columns) -> std::optional<double> {
    const target::DotInstruction* tile = target::TileInstructionFor(
        target, tensor::ToString(rows.dtype()), tensor::ToString(columns.dtype()));
    if (tile == nullptr || nest.at_once != tile->depth) return std::nullopt;
    const auto fill = tensor::FillTileRegisters(program, id, nest.at_once_digit, tile->depth, lane,
                                                {of_rows, of_columns});
    if (!fill) return std::nullopt;
    return tile->interval * tile->operations / static_cast<double>(fill->rows * fill->groups);
  };
  const std::optional<double> first = with(product.a, *a, product.b, *b);
  return first ? first : with(product.b, *b, product.a, *a);
}

/// Of products of which `at_once` are summed up together, but in tile registers.
std::optional<DotWork> WorkOf(const target::Target& target, const tensor::DotProduct& product,
                              int64_t at_once) {
  const std::string a = tensor::ToString(product.a.dtype());
  const std::string b = tensor::ToString(product.b.dtype());
  const auto method = target::DotMethodFor(target, a, b);
  if (!method) return std::nullopt;
  DotWork work;
  work.pack = PackEach(target) * static_cast<double>(at_once);
  const auto parts = static_cast<double>(at_once / product.depth());
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

std::optional<DotWork> DotWorkOf(const tensor::Program& program, tensor::BlockId block,
                                 const BufferPlaces& places, const target::Target& target,
                                 RegisterNest& nest) {
  const auto product = tensor::MatchDotProduct(program.blocks[block]);
  const bool has_lanes = product && nest.at_once > 1 && nest.lanes > 1;
  std::optional<DotWork> work = has_lanes ? WorkOf(target, *product, nest.at_once) : std::nullopt;
  if (!work) {
    nest.at_once = 1;
    nest.at_once_digit = -1;
    return work;
  }
  if (const auto combine = InTileRegisters(program, block, places, target, *product, nest)) {
    return DotWork{.combine = *combine, .pack = work->pack};
  }
  return work;
}

}  // namespace bayloom::feature
