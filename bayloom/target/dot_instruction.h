// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bayloom/target/target.h"

namespace bayloom::target {

/// An instruction that adds dot products of a few neighbouring elements to a register of sums:
///
///     sum[l] += a[depth * l + 0] * b[depth * l + 0] + ... + a[depth * l + depth - 1] * b[...]
///
/// without saturation, modulo 2^32 where sums are integers. One for matrices does so for each of
/// `rows` rows of a and as many columns of b, both `depth` elements long and one after the other in
/// a register; the sums are a row-major matrix in one register:
///
///     sum[rows * r + c] += a[depth * r + 0] * b[depth * c + 0] + ... + a[...] * b[...]
///
/// One for tile registers, of 16 rows of 64 bytes, takes as many rows of a and lanes of b, and sums
/// up more than one group of `depth` elements: group g of b is in its row g, for one lane after the
/// other.
///
///     sum[r][l] += a[r][depth * g + 0] * b[g][depth * l + 0] + ... for all g
///
/// Element types are named as tensor::ToString names them; uint7 are bytes below 128, with which
/// sums of two products have room in 16 bits.
struct DotInstruction {
  std::string_view name;  ///< the assembler's
  std::string_view a, b;  ///< element types of the operands
  std::string_view sum;
  int depth;
  int vector_bytes;           ///< of the widest register that it works on
  std::string_view features;  ///< of LLVM, all needed, separated by commas
  int operations;             ///< instructions for a register, the addition included
  int rows = 1;               ///< 2: it multiplies matrices, 16: those in tile registers
  /// Of one for tile registers, vector multiply-adds of the same processor that could begin until
  /// the next one begins; 1 for others.
  double interval = 1;

  /// Vector multiply-adds in whose time `depth` products are added to each lane of a register of
  /// sums, as a part of what one instruction does where it does more.
  double ShareOfRegister() const;
};

/// All that are known, the better ones of a kind first.
std::span<const DotInstruction> DotInstructions();

/// What has to happen to operands before an instruction takes them.
enum class DotOperands : uint8_t {
  kAsTheyAre,
  kSwapped,  ///< the second is the first
  /// Both are of one sign and should not be, or the reverse: one operand's numbers move by 128 into
  /// the other sign, and what that adds, 128 times the other operand, is summed up too and taken
  /// away again. An instruction for operands of one sign stands for that of the other sign, too.
  kShifted,
  kWidened,  ///< bytes become 16 bits wide, those at even and those at odd places apart
};

/// How a target sums up products.
struct DotMethod {
  const DotInstruction* instruction;
  DotOperands operands;
  /// Instructions that add 32 bits of each operand's lane to a register of sums.
  int Operations() const;
};

constexpr std::string_view kSmallByte = "uint7";

/// For elements of these types, as they are if an instruction takes them so; nullopt where the
/// target has no instruction for its registers.
std::optional<DotMethod> DotMethodFor(const Target& target, std::string_view a, std::string_view b);

/// The instruction that multiplies matrices of these elements as they are, the first of them being
/// rows or columns; null where the target has none.
const DotInstruction* MatrixInstructionFor(const Target& target, std::string_view a,
                                           std::string_view b);

/// The instruction for tile registers whose rows are of type `a` and whose lanes are of type `b`;
/// null where the target has none.
const DotInstruction* TileInstructionFor(const Target& target, std::string_view a,
                                         std::string_view b);

}  // namespace bayloom::target
