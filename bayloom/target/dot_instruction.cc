// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/target/dot_instruction.h"

#include <array>

namespace bayloom::target {
namespace {

/// One begins every 16 cycles, and two multiply-adds of 64 bytes in each cycle.
constexpr double kTileInterval = 32;

constexpr std::array kInstructions = {
    DotInstruction{"vpdpbusd", "uint8", "int8", "int32", 4, 64, "avx512vnni,avx512vl", 1},
    DotInstruction{"vpdpbusd", "uint8", "int8", "int32", 4, 32, "avxvnni", 1},
    DotInstruction{"vpdpwssd", "int16", "int16", "int32", 2, 64, "avx512vnni,avx512vl", 1},
    DotInstruction{"vpdpwssd", "int16", "int16", "int32", 2, 32, "avxvnni", 1},
    DotInstruction{"vpmaddubsw", kSmallByte, "int8", "int32", 4, 64, "avx512bw", 3},
    DotInstruction{"vpmaddubsw", kSmallByte, "int8", "int32", 4, 32, "avx2", 3},
    DotInstruction{"vpmaddwd", "int16", "int16", "int32", 2, 64, "avx512bw", 2},
    DotInstruction{"vpmaddwd", "int16", "int16", "int32", 2, 32, "avx2", 2},
    DotInstruction{"pmaddwd", "int16", "int16", "int32", 2, 16, "sse4.1", 2},
    DotInstruction{"vdpbf16ps", "bfloat16", "bfloat16", "float32", 2, 64, "avx512bf16,avx512vl", 1},
    DotInstruction{"tdpbssd", "int8", "int8", "int32", 4, 64, "amx-tile,amx-int8", 1, 16,
                   kTileInterval},
    DotInstruction{"tdpbsud", "int8", "uint8", "int32", 4, 64, "amx-tile,amx-int8", 1, 16,
                   kTileInterval},
    DotInstruction{"tdpbusd", "uint8", "int8", "int32", 4, 64, "amx-tile,amx-int8", 1, 16,
                   kTileInterval},
    DotInstruction{"tdpbuud", "uint8", "uint8", "int32", 4, 64, "amx-tile,amx-int8", 1, 16,
                   kTileInterval},
    DotInstruction{"tdpbf16ps", "bfloat16", "bfloat16", "float32", 2, 64, "amx-tile,amx-bf16", 1,
                   16, kTileInterval},
    DotInstruction{"sdot", "int8", "int8", "int32", 4, 16, "dotprod", 1},
    DotInstruction{"udot", "uint8", "uint8", "int32", 4, 16, "dotprod", 1},
    DotInstruction{"usdot", "uint8", "int8", "int32", 4, 16, "i8mm", 1},
    DotInstruction{"bfdot", "bfloat16", "bfloat16", "float32", 2, 16, "bf16", 1},
    DotInstruction{"fmlal", "float16", "float16", "float32", 2, 16, "fp16fml", 2},
    DotInstruction{"smmla", "int8", "int8", "int32", 8, 16, "i8mm", 1, 2},
    DotInstruction{"ummla", "uint8", "uint8", "int32", 8, 16, "i8mm", 1, 2},
    DotInstruction{"usmmla", "uint8", "int8", "int32", 8, 16, "i8mm", 1, 2},
    DotInstruction{"bfmmla", "bfloat16", "bfloat16", "float32", 4, 16, "bf16", 1, 2},
};

constexpr int kMatrixRows = 2, kTileRows = 16;

bool IsByte(std::string_view type) {
  return type == "int8" || type == "uint8" || type == kSmallByte;
}

/// What takes any unsigned bytes takes small ones.
bool Takes(std::string_view operand, std::string_view type) {
  return type == operand || (type == kSmallByte && operand == "uint8");
}

/// What the instruction needs to take these elements; nullopt where it cannot.
std::optional<DotOperands> Adapt(const DotInstruction& instruction, std::string_view a,
                                 std::string_view b) {
  if (Takes(instruction.a, a) && Takes(instruction.b, b)) return DotOperands::kAsTheyAre;
  if (Takes(instruction.a, b) && Takes(instruction.b, a)) return DotOperands::kSwapped;
  if (!IsByte(a) || !IsByte(b) || instruction.a == kSmallByte) return std::nullopt;
  if (IsByte(instruction.a)) {
    // One operand's sign can change: then both are of one sign where they were not, or the reverse.
    const bool changes = (instruction.a == instruction.b) != (a == b);
    return changes ? std::optional(DotOperands::kShifted) : std::nullopt;
  }
  return instruction.a == "int16" ? std::optional(DotOperands::kWidened) : std::nullopt;
}

bool HasAll(const Target& target, std::string_view features) {
  while (!features.empty()) {
    const size_t end = features.find(',');
    if (!HasFeature(target, features.substr(0, end))) return false;
    features = end == std::string_view::npos ? "" : features.substr(end + 1);
  }
  return true;
}

/// On the target's registers, or wider ones.
bool WorksOn(const Target& target, const DotInstruction& instruction) {
  return instruction.vector_bytes >= target.vector_bytes && HasAll(target, instruction.features);
}

}  // namespace

/// A tile has as many groups as rows; two registers of sums are two instructions for matrices.
double DotInstruction::ShareOfRegister() const {
  return interval * operations / (rows == kTileRows ? kTileRows * kTileRows : 1);
}

std::span<const DotInstruction> DotInstructions() { return kInstructions; }

int DotMethod::Operations() const {
  return operands == DotOperands::kWidened ? 2 * instruction->operations : instruction->operations;
}

std::optional<DotMethod> DotMethodFor(const Target& target, std::string_view a,
                                      std::string_view b) {
  std::optional<DotMethod> adapted;
  for (const DotInstruction& instruction : kInstructions) {
    if (instruction.rows > 1 || !WorksOn(target, instruction)) continue;
    const auto operands = Adapt(instruction, a, b);
    if (!operands) continue;
    const DotMethod method{&instruction, *operands};
    if (*operands == DotOperands::kAsTheyAre || *operands == DotOperands::kSwapped) return method;
    if (!adapted) adapted = method;
  }
  return adapted;
}

const DotInstruction* MatrixInstructionFor(const Target& target, std::string_view a,
                                           std::string_view b) {
  for (const DotInstruction& instruction : kInstructions) {
    const bool takes =
        (a == instruction.a && b == instruction.b) || (b == instruction.a && a == instruction.b);
    if (instruction.rows == kMatrixRows && takes && WorksOn(target, instruction))
      return &instruction;
  }
  return nullptr;
}

const DotInstruction* TileInstructionFor(const Target& target, std::string_view a,
                                         std::string_view b) {
  for (const DotInstruction& instruction : kInstructions) {
    const bool takes = a == instruction.a && b == instruction.b;
    if (instruction.rows == kTileRows && takes && WorksOn(target, instruction)) return &instruction;
  }
  return nullptr;
}

}  // namespace bayloom::target
