// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/tree.h"

namespace bayloom::tensor {
namespace {

/// What a digit is replaced by: digit = sum of stride * part.
struct CutDigit {
  struct Part {
    DigitId digit;
    int64_t stride;
  };
  DigitId digit;
  std::vector<Part> parts;
};

/// Fills in a factor of -1 and checks the product.
Result<std::vector<int64_t>> ResolveFactors(int64_t extent, std::span<const int64_t> factors) {
  if (factors.empty()) return Error{"split needs at least one factor"};
  std::vector<int64_t> resolved(factors.begin(), factors.end());
  int64_t* inferred = nullptr;
  int64_t known = 1;
  for (int64_t& factor : resolved) {
    if (factor == -1 && inferred == nullptr) {
      inferred = &factor;
    } else if (factor < 1 || factor > extent) {
      return Error{
          fmt::format("cannot split a loop of extent {} into {}: every factor must be "
                      "between 1 and the extent (one may be -1)",
                      extent, fmt::join(factors, " x "))};
    } else {
      known *= factor;
      if (known > extent) break;
    }
  }
  if (inferred != nullptr && known <= extent && extent % known == 0) {
    *inferred = extent / known;
    known = extent;
  }
  if (known != extent) {
    return Error{
        fmt::format("cannot split a loop of extent {} into {}: the factors must multiply "
                    "to the extent",
                    extent, fmt::join(factors, " x "))};
  }
  return resolved;
}

/// How the digits of a loop are distributed over the factors, from the innermost one outwards.
struct Distribution {
  struct Piece {
    int position;    ///< of the digit in the loop
    int64_t extent;  ///< all of the digit's, or a divisor of it
  };
  std::vector<std::vector<Piece>> pieces;  ///< per factor, innermost piece first
};

Result<Distribution> DistributeDigits(const Program& program, LoopId loop,
                                      const std::vector<int64_t>& factors) {
  const std::vector<DigitId>& digits = program.loops[loop].digits;
  Distribution distribution;
  distribution.pieces.resize(factors.size());
  int position = static_cast<int>(digits.size()) - 1;
  int64_t left = program.digit_extents[digits[position]];
  for (int i = static_cast<int>(factors.size()) - 1; i >= 0; --i) {
    int64_t needed = factors[i];
    while (needed > 1) {
      const int64_t taken = std::min(needed, left);
      if (needed % taken != 0 || left % taken != 0) {
        std::vector<int64_t> extents;
        extents.reserve(digits.size());
        for (DigitId digit : digits) extents.push_back(program.digit_extents[digit]);
        return Error{
            fmt::format("cannot split a fused loop of parts {} into {}: the factor {} "
                        "neither falls on a part nor divides it",
                        fmt::join(extents, " x "), fmt::join(factors, " x "), factors[i])};
      }
      distribution.pieces[i].push_back({position, taken});
      needed /= taken;
      left /= taken;
      if (left == 1 && --position >= 0) left = program.digit_extents[digits[position]];
    }
  }
  for (; position >= 0; --position) distribution.pieces[0].push_back({position, 1});
  return distribution;
}

void SubstituteDigits(const std::vector<CutDigit>& cuts, Affine& affine) {
  for (const CutDigit& cut : cuts) {
    const int64_t coefficient = affine.CoefficientOf(cut.digit);
    if (coefficient == 0) continue;
    affine.Add(cut.digit, -coefficient);
    for (const CutDigit::Part& part : cut.parts) affine.Add(part.digit, coefficient * part.stride);
  }
}

}  // namespace

Result<std::vector<LoopId>> Split(Program& program, LoopId loop, std::span<const int64_t> factors) {
  if (Status s = CheckSerialLoop(program, loop); !s) return s.error();
  Result<std::vector<int64_t>> extents = ResolveFactors(program.ExtentOf(loop), factors);
  if (!extents) return extents.error();
  Result<Distribution> distribution = DistributeDigits(program, loop, *extents);
  if (!distribution) return distribution.error();

  std::vector<LoopId> nest(extents->size());
  std::vector<CutDigit> cuts;
  const std::vector<DigitId> old_digits = program.loops[loop].digits;
  std::vector<int64_t> stride(old_digits.size(), 1);  // of the next piece of each digit
  for (int i = static_cast<int>(nest.size()) - 1; i >= 0; --i) {
    std::vector<DigitId> digits;
    for (const Distribution::Piece& piece : distribution->pieces[i]) {
      const DigitId old_digit = old_digits[piece.position];
      if (piece.extent == program.digit_extents[old_digit]) {
        digits.push_back(old_digit);
        continue;
      }
      const DigitId part = NewDigit(program, piece.extent);
      if (cuts.empty() || cuts.back().digit != old_digit) cuts.push_back({old_digit, {}});
      cuts.back().parts.push_back({part, stride[piece.position]});
      stride[piece.position] *= piece.extent;
      digits.push_back(part);
    }
    if (digits.empty()) digits.push_back(NewDigit(program, 1));
    std::reverse(digits.begin(), digits.end());
    nest[i] = NewLoop(program, std::move(digits));
  }
  if (!cuts.empty()) {
    ForEachBlockBelow(program, NodeRef::Loop(loop), [&](BlockId block) {
      for (Affine& binding : program.blocks[block].bindings) SubstituteDigits(cuts, binding);
    });
  }

  program.loops[nest[0]].unroll_max_step = program.loops[loop].unroll_max_step;
  SetBody(program, nest.back(), std::move(program.loops[loop].body));
  const std::vector<LoopId> outer(nest.begin(), nest.end() - 1);
  ReplaceNode(program, NodeRef::Loop(loop), Nest(program, outer, NodeRef::Loop(nest.back())));
  program.loops[loop].alive = false;
  return nest;
}

}  // namespace bayloom::tensor
