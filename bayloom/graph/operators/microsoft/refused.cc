// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Operators that are known and cannot be imported, with what helps.
#include "bayloom/graph/operators/microsoft.h"

namespace bayloom::graph::microsoft {
namespace {

constexpr std::string_view kBlockedDomain = "com.microsoft.nchwc";

void Blocked(OperatorContext& context) {
  context.Refuse(
      "the model was optimized for one machine's memory layout: save it with onnxruntime's "
      "optimization level extended or below");
}

void Packed(OperatorContext& context) {
  context.Refuse("packed sequences have lengths that are data: export the model with padding");
}

void Generation(OperatorContext& context) {
  context.Refuse("loops over generated tokens are not supported: export the decoder's step");
}

void DeviceOnly(OperatorContext& context) {
  context.Refuse("the operator exists on GPUs only: optimize the model for the CPU");
}

}  // namespace

std::span<const Operator> RefusedOperators() {
  static const Operator operators[] = {
      {"AveragePool", Blocked, kBlockedDomain},
      {"BeamSearch", Generation, kDomain},
      {"Conv", Blocked, kBlockedDomain},
      {"DecoderAttention", DeviceOnly, kDomain},
      {"DecoderMaskedSelfAttention", DeviceOnly, kDomain},
      {"GatedRelativePositionBias", DeviceOnly, kDomain},
      {"GlobalAveragePool", Blocked, kBlockedDomain},
      {"GlobalMaxPool", Blocked, kBlockedDomain},
      {"GreedySearch", Generation, kDomain},
      {"LongformerAttention", DeviceOnly, kDomain},
      {"MaxPool", Blocked, kBlockedDomain},
      {"PackedAttention", Packed, kDomain},
      {"PackedMultiHeadAttention", Packed, kDomain},
      {"PagedAttention", Packed, kDomain},
      {"QOrderedAttention", DeviceOnly, kDomain},
      {"QOrderedGelu", DeviceOnly, kDomain},
      {"QOrderedLayerNormalization", DeviceOnly, kDomain},
      {"QOrderedMatMul", DeviceOnly, kDomain},
      {"RelativePositionBias", DeviceOnly, kDomain},
      {"RemovePadding", Packed, kDomain},
      {"ReorderInput", Blocked, kBlockedDomain},
      {"ReorderOutput", Blocked, kBlockedDomain},
      {"RestorePadding", Packed, kDomain},
      {"Sampling", Generation, kDomain},
      {"Upsample", Blocked, kBlockedDomain},
      {"WhisperBeamSearch", Generation, kDomain},
  };
  return operators;
}

}  // namespace bayloom::graph::microsoft
