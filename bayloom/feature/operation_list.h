// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bayloom/feature/cpu_nest.h"
#include "bayloom/target/machine_model.h"

namespace bayloom::feature {

/// What a scalar operation takes, in vector multiply-adds.
constexpr double kScalarOperation = 0.5;

/// An operation of a block's value: what it costs and what it changes with.
struct Operation {
  LoopMask mask = 0;
  double cost = 0;  ///< seconds
  bool is_load = false;
  /// The digit of CpuNest::steps that reads with its next step what the innermost reduction loop
  /// reads with its own: the rows of a window that moves over an image. -1 if there is none.
  int slides = -1;
};

/// The machine's costs in seconds.
struct Costs {
  double multiply_add, load, division, transcendental, in_flight;

  explicit Costs(const target::MachineModel& machine);
};

/// The operations of a block's value.
class OperationList {
 public:
  /// `accesses` are the block's; what it loads from the buffer `handed` is in registers.
  OperationList(const tensor::Program& program, const tensor::Block& block,
                const plan::BlockAccesses& accesses, const CpuNest& nest, const Costs& costs,
                tensor::BufferId handed = -1);

  /// An instruction that sums up products takes their factors as `work` says.
  std::vector<Operation> Take(const plan::TileWork& work);

  /// Cost of a store of a register.
  double StoreCost() const { return MemoryCost(accesses_.store, StoreMask()); }

 private:
  /// A value that is computed once, however often it is written down.
  struct Value {
    int id;
    LoopMask mask;
  };

  Value Add(const tensor::Expr& e);
  void TakeFactors(const plan::DotPlan& dot, const plan::TileWork& work);
  LoopMask StoreMask() const;
  /// Cost of a register's elements at the place, which the vectorized loop strides over or not.
  double MemoryCost(const plan::PlacedAccess& access, LoopMask mask) const;
  double LoadCost(const plan::PlacedAccess& access, LoopMask mask) const;
  double CostOf(const tensor::ExprNode& node, LoopMask mask) const;
  int SlidesOf(const plan::PlacedAccess& access) const;
  LoopMask MaskOf(const tensor::Expr& e) const;
  LoopMask MaskOfIter(int iter) const;
  bool IsAffine(const plan::PlacedAccess& access) const;
  double LinesOf(const plan::PlacedAccess& access) const;
  bool IsContiguous(const tensor::Affine& offset, int64_t elements) const;

  const tensor::Program& program_;
  const tensor::Block& block_;
  const plan::BlockAccesses& accesses_;
  const CpuNest& nest_;
  const Costs& costs_;
  const tensor::BufferId handed_;
  std::vector<LoopMask> masks_;  ///< of the iterators
  std::vector<Operation> operations_;
  std::map<const tensor::ExprNode*, Value> by_node_;
  std::map<std::vector<int64_t>, Value> by_content_;
};

}  // namespace bayloom::feature
