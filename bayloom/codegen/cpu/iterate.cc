// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "bayloom/codegen/cpu/nest.h"

namespace bayloom::codegen {

void NestEmitter::Iterate(tensor::LoopId loop, bool unroll, const Body& body) {
  if (const auto digit = plan_.DigitAtOnce(loop)) return Repeat(*digit, 1, body);
  if (const Slots* blocked = BlockedAt(loop)) return IterateBlocks(*blocked, unroll, body);
  if (const Slots* folded = FoldedAt(loop)) return IterateFold(*folded, unroll, body);
  const auto vector = plan_.vector_loops.find(loop);
  if (vector == plan_.vector_loops.end()) {
    IterateDigits(program_.loops[loop].digits, 0, unroll, body);
  } else {
    IterateDigits(vector->second.outer, 0, unroll,
                  [&] { IterateLanes(vector->second, unroll, body); });
  }
}

void NestEmitter::IterateDigits(const std::vector<tensor::DigitId>& digits, size_t from,
                                bool unroll, const Body& body) {
  if (from == digits.size()) {
    body();
    return;
  }
  const tensor::DigitId digit = digits[from];
  const int64_t steps = StepsOf(digit);
  const auto rest = [&] { IterateDigits(digits, from + 1, unroll, body); };
  if (unroll || steps == 1) {
    Repeat(digit, steps, rest);
  } else {
    RunLoop(digit, steps, 1, rest);
  }
}

int64_t NestEmitter::StepsOf(tensor::DigitId digit) const {
  for (const Slots& slots : active_) {
    const int64_t steps = slots.tile->StepsOf(program_, digit);
    if (steps != program_.digit_extents[digit]) return steps;
  }
  return program_.digit_extents[digit];
}

void NestEmitter::IterateLanes(const plan::VectorLoop& vector, bool unroll, const Body& body) {
  IterateChunks(vector, unroll ? std::numeric_limits<int64_t>::max() : plan::kMaxChunks,
                [&](const plan::Chunk& chunk) { RunChunk(vector, chunk, body); });
}

void NestEmitter::IterateChunks(const plan::VectorLoop& vector, int64_t max_unrolled,
                                const std::function<void(const plan::Chunk&)>& body) {
  const tensor::DigitId innermost = vector.lanes.back();
  const int64_t cut = program_.digit_extents[innermost] / StepsOf(innermost);
  std::vector<plan::Chunk> chunks =
      plan::ChunksOf(vector.lane_count / cut, vector.width, vector.masks);
  if (vector.lanes.size() == 1 && static_cast<int64_t>(chunks.size()) > max_unrolled) {
    const int64_t whole = vector.lane_count / vector.width;
    RunLoop(innermost, whole, vector.width, [&] { body({0, vector.width, vector.width}); });
    chunks.erase(chunks.begin(), chunks.begin() + whole);
  }
  for (const plan::Chunk& chunk : chunks) body(chunk);
}

}  // namespace bayloom::codegen
