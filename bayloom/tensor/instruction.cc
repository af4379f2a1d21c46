// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {
namespace {

using enum InstructionKind;

constexpr std::array kForms = {
    InstructionForm{kGetBlock, "get_block", "", "b", 0},
    InstructionForm{kGetLoops, "get_loops", "b", "l*", 0},
    InstructionForm{kGetConsumers, "get_consumers", "b", "b*", 0},
    InstructionForm{kSamplePerfectTile, "sample_perfect_tile", "l", "v*", 2},
    InstructionForm{kSampleCategorical, "sample_categorical", "", "v", -1},
    InstructionForm{kSampleComputeLocation, "sample_compute_location", "b", "l", 0},
    InstructionForm{kSplit, "split", "lv*", "l*", -1},
    InstructionForm{kFuse, "fuse", "l*", "l", 0},
    InstructionForm{kReorder, "reorder", "l*", "", 0},
    InstructionForm{kParallelize, "parallelize", "l", "", 0},
    InstructionForm{kVectorize, "vectorize", "l", "", 0},
    InstructionForm{kUnroll, "unroll", "l", "", 0},
    InstructionForm{kAnnotateUnroll, "annotate_unroll", "lv", "", 0},
    InstructionForm{kBind, "bind", "lv*", "", 1},
    InstructionForm{kAnnotate, "annotate", "bv*", "", -1},
    InstructionForm{kComputeInline, "compute_inline", "b", "", 0},
    InstructionForm{kReverseComputeInline, "reverse_compute_inline", "b", "", 0},
    InstructionForm{kComputeAt, "compute_at", "bl", "", 0},
    InstructionForm{kReverseComputeAt, "reverse_compute_at", "bl", "", 0},
    InstructionForm{kCacheRead, "cache_read", "b", "b", 2},
    InstructionForm{kCacheWrite, "cache_write", "b", "b", 1},
    InstructionForm{kRFactor, "rfactor", "bl", "b", 0},
    InstructionForm{kDecomposeReduction, "decompose_reduction", "bl", "b", 0},
    InstructionForm{kRewriteLayout, "rewrite_layout", "b", "", 1},
    InstructionForm{kSetScope, "set_scope", "b", "", 1},
    InstructionForm{kTensorize, "tensorize", "l", "", 0},
    InstructionForm{kSplitOverlapping, "split_overlapping", "lv", "ll", 0},
    InstructionForm{kWinograd, "winograd", "b", "b*", 1},
    InstructionForm{kPadProduct, "pad_product", "b", "b*", -1},
};

constexpr bool FormsAreInOrder() {
  for (size_t i = 0; i < kForms.size(); ++i) {
    if (kForms[i].kind != static_cast<InstructionKind>(i)) return false;
  }
  return true;
}
static_assert(FormsAreInOrder());

Error Malformed(const Instruction& instruction, std::string_view what) {
  return Error{fmt::format("malformed {} step: {}", ToString(instruction.kind), what)};
}

/// Matches operands against a pattern such as "lv*".
bool Matches(std::string_view pattern, const std::vector<int>& operands,
             const std::vector<char>& variables) {
  const bool repeats = pattern.ends_with('*');
  const size_t fixed = pattern.size() - (repeats ? 2 : 0);
  if (repeats ? operands.size() < fixed : operands.size() != fixed) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char expected = pattern[std::min(i, fixed)];
    if (operands[i] < 0 || operands[i] >= static_cast<int>(variables.size())) return false;
    if (variables[operands[i]] != expected) return false;
  }
  return true;
}

bool AreProbabilities(const std::vector<double>& weights) {
  double total = 0;
  for (double weight : weights) {
    if (!(weight >= 0)) return false;
    total += weight;
  }
  return total > 0 && total < 1e300;
}

bool IsScope(int64_t value) {
  return value >= 0 && value <= static_cast<int64_t>(StorageScope::kLocal);
}

constexpr int64_t kMaxTileParts = 32;

}  // namespace

const InstructionForm& FormOf(InstructionKind kind) { return kForms[static_cast<size_t>(kind)]; }

const InstructionForm* FindForm(std::string_view name) {
  for (const InstructionForm& form : kForms) {
    if (form.name == name) return &form;
  }
  return nullptr;
}

Status CheckForm(const Instruction& instruction, const std::vector<char>& variables) {
  const InstructionForm& form = FormOf(instruction.kind);
  const std::vector<int64_t>& attributes = instruction.attributes;
  if (!Matches(form.inputs, instruction.inputs, variables)) {
    return Malformed(instruction, "its operands are not of the kinds it takes");
  }
  if (form.attributes >= 0 && static_cast<int>(attributes.size()) != form.attributes) {
    return Malformed(instruction, "wrong number of literal arguments");
  }
  switch (instruction.kind) {
    case kSamplePerfectTile:
      if (attributes[0] < 1 || attributes[0] > kMaxTileParts || attributes[1] < 1) {
        return Malformed(instruction, "bad number of parts or limit");
      }
      break;
    case kSampleCategorical:
      if (attributes.empty() || attributes.size() != instruction.weights.size()) {
        return Malformed(instruction, "as many probabilities as candidates, at least one");
      }
      if (!AreProbabilities(instruction.weights))
        return Malformed(instruction, "bad probabilities");
      break;
    case kSplit:
      if ((instruction.inputs.size() > 1) == !attributes.empty()) {
        return Malformed(instruction, "factors are either all variables or all literal");
      }
      break;
    case kAnnotate:
      if (instruction.inputs.size() - 1 + attributes.size() != 1) {
        return Malformed(instruction, "exactly one value");
      }
      break;
    case kBind:
      if (attributes[0] < 0 || attributes[0] > static_cast<int64_t>(LoopKind::kThreadReduce)) {
        return Malformed(instruction, "unknown kind of loop");
      }
      if (instruction.inputs.size() > 2) return Malformed(instruction, "one number of threads");
      break;
    case kPadProduct:
      if (std::ranges::any_of(attributes, [](int64_t extent) { return extent < 1; })) {
        return Malformed(instruction, "extents are at least 1");
      }
      break;
    case kCacheRead:
    case kCacheWrite:
    case kSetScope:
      if (!IsScope(attributes.back())) return Malformed(instruction, "unknown storage scope");
      break;
    default:
      break;
  }
  return Ok();
}

Status CheckOutputs(const Instruction& instruction) {
  const std::string_view pattern = FormOf(instruction.kind).outputs;
  size_t expected = pattern.size();
  if (instruction.kind == kSamplePerfectTile) {
    expected = instruction.attributes[0];
  } else if (instruction.kind == kSplit) {
    expected = instruction.inputs.size() - 1 + instruction.attributes.size();
  } else if (pattern.ends_with('*')) {
    return Ok();
  }
  if (instruction.outputs.size() == expected) return Ok();
  return Malformed(instruction, "wrong number of outputs");
}

Status CheckDecision(const Instruction& instruction, const Decision& decision) {
  if (!IsSampling(instruction.kind)) return Malformed(instruction, "it takes no decision");
  const size_t expected = instruction.kind == kSamplePerfectTile ? instruction.attributes[0] : 1;
  if (decision.values.size() != expected) {
    return Malformed(instruction, "its decision has the wrong length");
  }
  return Ok();
}

bool IsSampling(InstructionKind kind) {
  return kind == kSamplePerfectTile || kind == kSampleCategorical || kind == kSampleComputeLocation;
}

std::string ToString(InstructionKind kind) { return std::string(FormOf(kind).name); }

}  // namespace bayloom::tensor
