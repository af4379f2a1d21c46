// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/plan/cpu/load_lines.h"

#include <algorithm>

#include "bayloom/target/machine_model.h"

namespace bayloom::plan {

double LinesOf(const tensor::Program& program, const PlacedAccess& access, const VectorLoop& vector,
               int64_t together) {
  constexpr auto kLineBytes = static_cast<int64_t>(target::kLineBytes);
  if (access.affine.CoefficientOf(vector.lanes.back()) != together) return 1;
  const int64_t element = tensor::ByteSize(program.buffers[access.buffer].dtype);
  const int64_t lanes = std::min<int64_t>(vector.width, vector.lane_count);
  const int64_t bytes = std::min(lanes * together * element, kLineBytes);
  bool aligned = access.affine.constant * element % bytes == 0;
  for (const tensor::Affine::Term& term : access.affine.terms) {
    const bool is_lane = std::ranges::count(vector.lanes, term.digit) > 0;
    if (is_lane || program.digit_extents[term.digit] == 1) continue;
    aligned = aligned && term.coefficient * element % bytes == 0;
  }
  return aligned ? 1 : 1 + static_cast<double>(bytes) / target::kLineBytes;
}

}  // namespace bayloom::plan
