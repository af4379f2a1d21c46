// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/across.h"

namespace bayloom::codegen {
namespace {

/// All steps of the digit for one register of lanes.
void EmitChunk(NestContext& nest, const plan::AcrossLoop& across, const plan::VectorLoop& vector,
               const plan::Chunk& chunk, TreeEmitter& tree) {
  const tensor::DigitId digit = across.digit;
  const auto emit = [&](int64_t count) {
    const DigitValue before = nest.digits[digit];
    DigitValue value = before.bound ? before : DigitValue::Constant(0);
    for (int64_t step = 0; step < count; ++step, ++value.offset) {
      nest.digits[digit] = value;
      nest.state.across = UnrolledDigit{digit, {step, count}};
      nest.loops.RunChunk(vector, chunk,
                          [&] { tree.EmitBody(tensor::NodeRef::Loop(vector.loops.back())); });
    }
    nest.state.across.reset();
    nest.digits[digit] = before;
  };
  const int64_t extent = nest.program.digit_extents[digit];
  const int64_t at_once = plan::AcrossLoop::StepsAtOnce(extent, vector.width);
  const int64_t whole = extent / at_once;
  if (whole == 1) {
    emit(at_once);
  } else {
    nest.RunLoop(digit, whole, at_once, [&] { emit(at_once); });
  }
  if (whole * at_once == extent) return;
  const DigitValue before = nest.digits[digit];
  nest.digits[digit] = DigitValue::Constant(whole * at_once);
  emit(extent - whole * at_once);
  nest.digits[digit] = before;
}

}  // namespace

void EmitAcross(NestContext& nest, const plan::AcrossLoop& across, TreeEmitter& tree) {
  const plan::VectorLoop& vector = nest.plan.vector_loops.at(across.vector);
  std::vector<tensor::DigitId> slower = nest.program.loops[across.loop].digits;
  std::erase(slower, across.digit);
  slower.insert(slower.end(), vector.outer.begin(), vector.outer.end());
  nest.IterateDigits(slower, 0, false, [&] {
    nest.IterateChunks(vector, plan::kMaxAcrossChunks, [&](const plan::Chunk& chunk) {
      EmitChunk(nest, across, vector, chunk, tree);
    });
  });
}

}  // namespace bayloom::codegen
