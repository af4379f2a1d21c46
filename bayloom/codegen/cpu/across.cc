// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {

void NestEmitter::EmitAcross(const plan::AcrossLoop& across) {
  const plan::VectorLoop& vector = plan_.vector_loops.at(across.vector);
  std::vector<tensor::DigitId> slower = program_.loops[across.loop].digits;
  std::erase(slower, across.digit);
  slower.insert(slower.end(), vector.outer.begin(), vector.outer.end());
  IterateDigits(slower, 0, false, [&] {
    IterateChunks(vector, plan::kMaxAcrossChunks,
                  [&](const plan::Chunk& chunk) { EmitAcrossChunk(across, vector, chunk); });
  });
}

/// All steps of the digit for one register of lanes.
void NestEmitter::EmitAcrossChunk(const plan::AcrossLoop& across, const plan::VectorLoop& vector,
                                  const plan::Chunk& chunk) {
  const tensor::DigitId digit = across.digit;
  const auto emit = [&](int64_t count) {
    const DigitValue before = digits_[digit];
    DigitValue value = before.bound ? before : DigitValue::Constant(0);
    for (int64_t step = 0; step < count; ++step, ++value.offset) {
      digits_[digit] = value;
      state_.across = UnrolledDigit{digit, {step, count}};
      RunChunk(vector, chunk, [&] { EmitBody(tensor::NodeRef::Loop(vector.loops.back())); });
    }
    state_.across.reset();
    digits_[digit] = before;
  };
  const int64_t extent = program_.digit_extents[digit];
  const int64_t at_once = plan::AcrossLoop::StepsAtOnce(extent, vector.width);
  const int64_t whole = extent / at_once;
  if (whole == 1) {
    emit(at_once);
  } else {
    RunLoop(digit, whole, at_once, [&] { emit(at_once); });
  }
  if (whole * at_once == extent) return;
  const DigitValue before = digits_[digit];
  digits_[digit] = DigitValue::Constant(whole * at_once);
  emit(extent - whole * at_once);
  digits_[digit] = before;
}

}  // namespace bayloom::codegen
