// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/register_tile.h"

#include <algorithm>

#include "bayloom/plan/cpu/cpu_plan.h"
#include "bayloom/plan/cpu/fold_plan.h"

namespace bayloom::feature {
namespace {

constexpr double kUnhidden = 0.2;  ///< part of the loads that shows beside arithmetic

class TileSearch {
 public:
  TileSearch(const RegisterNest& nest, const std::vector<Operation>& operations, const Costs& costs,
             const ReductionCode& code)
      : nest_(nest), operations_(operations), costs_(costs), code_(code) {}

  /// The best part of the loops in the tile.
  RegisterTile Best() {
    taken_.assign(nest_.tile.size(), 1);
    best_.taken = taken_;
    const auto chunks = static_cast<int64_t>(nest_.chunks);
    const int64_t most = nest_.folds ? int64_t{plan::kMaxFoldRegisters} : 32;
    const bool even = nest_.lanes <= nest_.width || nest_.lanes == nest_.chunks * nest_.width;
    for (int64_t taken = 1; taken <= std::min(chunks, most); ++taken) {
      // Of a loop that ends within a register all registers are taken.
      if (nest_.folds || (chunks % taken == 0 && (even || taken == chunks)))
        Try(0, static_cast<double>(taken), static_cast<double>(taken));
    }
    return best_;
  }

 private:
  void Try(size_t loop, double chunks, double outputs) {
    if (loop == nest_.tile.size()) {
      const double seconds = Of(chunks, outputs);
      if (seconds < best_.seconds) best_ = {seconds, chunks, taken_};
      return;
    }
    const int64_t steps = nest_.tile[loop].steps;
    const auto limit = static_cast<int64_t>(code_.registers / outputs);
    for (int64_t taken = 1; taken <= std::min(steps, limit); ++taken) {
      if (steps % taken != 0) continue;
      taken_[loop] = taken;
      Try(loop + 1, chunks, outputs * static_cast<double>(taken));
    }
    taken_[loop] = 1;
  }

  double Of(double chunks, double outputs) const {
    double live = outputs, live_vectors_first = outputs;
    double arithmetic = outputs * code_.combine + code_.step, loads = 0;
    for (const Operation& operation : operations_) {
      if ((operation.mask & kReductionMask) == 0) continue;  // computed once before
      double values = 1;
      for (size_t i = 0; i < Digits(); ++i) {
        if (Varies(operation, i)) values *= Taken(i, chunks);
      }
      if (operation.slides >= 0) values *= NewPart(operation, values, chunks, outputs);
      (operation.is_load ? loads : arithmetic) += values * operation.cost;
      if (!operation.is_load) continue;
      live += Kept(operation, chunks, 0);
      live_vectors_first += Kept(operation, chunks, Digits() - 1);
    }
    if (std::min(live, live_vectors_first) > code_.registers) return kNever;
    return std::max(Together(arithmetic, loads), costs_.in_flight) / outputs;
  }

  /// Of the values that a step of the innermost reduction loop uses, the part that the step before
  /// has not loaded. They are the same where both are unrolled and the registers hold them.
  double NewPart(const Operation& operation, double values, double chunks, double outputs) const {
    const double statements = static_cast<double>(code_.unrolled) * outputs;
    if (statements / chunks > static_cast<double>(code_.max_step) ||
        statements > plan::kMaxUnrolled || outputs + values > code_.registers) {
      return 1;
    }
    const auto taken = static_cast<double>(taken_[operation.slides]);
    const auto steps = static_cast<double>(code_.unrolled);
    return (taken + steps - 1) / (taken * steps);
  }

  /// The tile's loops and, last, the registers of the vectorized one.
  size_t Digits() const { return taken_.size() + 1; }
  double Taken(size_t i, double chunks) const {
    return i < taken_.size() ? static_cast<double>(taken_[i]) : chunks;
  }
  bool Varies(const Operation& operation, size_t i) const {
    return (operation.mask & (i < taken_.size() ? LoopMask{1} << (kFirstTile + i) : kVector)) != 0;
  }

  /// Registers that a load's values stay in while they are used again, with the digits in turn from
  /// number `first` on, which is the slowest.
  double Kept(const Operation& operation, double chunks, size_t first) const {
    double kept = 1;
    bool reused = false;
    for (size_t n = 0; n < Digits(); ++n) {
      const size_t i = (first + n) % Digits();
      const bool varies = Varies(operation, i);
      if (varies && reused) kept *= Taken(i, chunks);
      reused = reused || (!varies && Taken(i, chunks) > 1);
    }
    return kept;
  }

  static constexpr double kNever = 1e30;
  const RegisterNest& nest_;
  const std::vector<Operation>& operations_;
  const Costs& costs_;
  const ReductionCode& code_;
  std::vector<int64_t> taken_;
  RegisterTile best_{kNever, 1, {}};
};
}  // namespace

double Together(double arithmetic, double loads) {
  return std::max(arithmetic, loads) + kUnhidden * std::min(arithmetic, loads);
}

RegisterTile BestRegisterTile(const RegisterNest& nest, const std::vector<Operation>& operations,
                              const Costs& costs, const ReductionCode& code) {
  return TileSearch(nest, operations, costs, code).Best();
}

}  // namespace bayloom::feature
