// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bayloom/plan/memory_plan.h"
#include "bayloom/target/machine_model.h"

namespace bayloom::plan {

/// A digit of a register tile, counted in steps of `unit` elements (a register's lanes for the
/// digit that is vectorized).
struct TileDigit {
  tensor::DigitId digit;
  int64_t steps;
  int64_t unit = 1;
  bool divisible = true;  ///< may be taken into the tile in part
  bool optional = false;  ///< scheduled outside of the reduction loops
};

/// What a machine's multiply-adds and loads let a tile of accumulators expect.
struct TileRates {
  /// Multiply-adds that begin until the first one's result can be used: a tile of fewer
  /// accumulators waits.
  double in_flight;
  double load;  ///< time of a vector load, in that of a multiply-add

  /// Rounded, to whole multiply-adds and quarters of a load: the code must not change with the
  /// noise of a measurement.
  static TileRates Of(const target::MachineModel& machine);
};

/// What adding to an accumulator takes, in multiply-adds and registers.
struct TileWork {
  /// Of each value that is loaded.
  struct Value {
    double operations = 0;  ///< until it can be used
    double loads = 1;       ///< in cache lines
    int64_t registers = 1;  ///< while it is used
    int64_t sums = 0;       ///< registers in which it is summed up besides
  };
  double combine = 1;                               ///< of each accumulator
  int64_t registers = 1;                            ///< of each accumulator
  std::map<const tensor::ExprNode*, Value> values;  ///< by load, where it is not the default
};

/// Estimates what a reduction's innermost iteration costs for tiles of various sizes.
class TileCost {
 public:
  TileCost(const BlockAccesses& accesses, int registers, TileRates rates, TileWork work = {})
      : accesses_(accesses), registers_(registers), rates_(rates), work_(std::move(work)) {}

  /// Time per accumulator and iteration of a tile of so many steps per digit (slowest first), in
  /// that of a multiply-add; nullopt when accumulators and operands do not fit into the registers.
  std::optional<double> Of(const std::vector<TileDigit>& digits,
                           const std::vector<int64_t>& steps) const;

  /// Whether there are registers for values that are loaded before they are used, as LLVM loads up
  /// to four neighbours at once.
  bool HasSpareRegisters(const std::vector<TileDigit>& digits,
                         const std::vector<int64_t>& steps) const;

  /// The best steps for each digit: those scheduled unless others are clearly better. Empty when
  /// none fits.
  std::vector<int64_t> Best(const std::vector<TileDigit>& digits) const;

 private:
  /// Of the innermost iteration.
  struct Demand {
    int64_t accumulators = 1;
    int64_t live = 0;  ///< registers
    double operations = 0;
    double loaded = 0;  ///< cache lines
  };
  struct Load {
    TileWork::Value work;
    uint64_t varies = 0;  ///< a bit for each digit: whether it changes with it
  };
  std::vector<Load> LoadsOf(const std::vector<TileDigit>& digits) const;
  std::optional<double> TimeOf(const std::vector<Load>& loads,
                               const std::vector<int64_t>& steps) const;
  Demand DemandOf(const std::vector<Load>& loads, const std::vector<int64_t>& steps) const;

  const BlockAccesses& accesses_;
  const int registers_;
  const TileRates rates_;
  const TileWork work_;
};

}  // namespace bayloom::plan
