// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "bayloom/feature/dot_work.h"
#include "bayloom/feature/register_nest.h"
#include "bayloom/feature/touched_memory.h"
#include "bayloom/target/machine_model.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// What a scalar operation takes, in vector multiply-adds.
constexpr double kScalarOperation = 0.5;

/// Which of a nest's loops something changes with: the vectorized ones, the reduction loops, and
/// from `kFirstTile` on a bit for each loop of the tile.
using LoopMask = uint64_t;
constexpr LoopMask kVector = 1;
constexpr LoopMask kReductionMask = 2;
constexpr int kFirstTile = 2;

/// An operation of a block's value: what it costs and what it changes with.
struct Operation {
  LoopMask mask = 0;
  double cost = 0;  ///< seconds
  bool is_load = false;
  /// The tile's loop that reads with its next step what the innermost reduction loop reads with its
  /// own: the rows of a window that moves over an image. -1 if there is none.
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
  OperationList(const tensor::Program& program, const BufferPlaces& places,
                const tensor::Block& block, const RegisterNest& nest, const Costs& costs,
                const std::optional<DotWork>& dot);

  std::vector<Operation> Take(const tensor::Expr& value);

  /// Cost of a register's elements at the place, which the vectorized loop strides over or not.
  double MemoryCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                    LoopMask mask) const;

  LoopMask MaskOf(const std::vector<tensor::Expr>& indices) const;

 private:
  /// A value that is computed once, however often it is written down.
  struct Value {
    int id;
    LoopMask mask;
  };

  Value Add(const tensor::Expr& e);
  void TakeFactors(const tensor::DotProduct& product);
  double LoadCost(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer,
                  LoopMask mask) const;
  double CostOf(const tensor::ExprNode& node, LoopMask mask) const;
  int SlidesOf(const std::vector<tensor::Expr>& indices, tensor::BufferId buffer) const;
  bool Contains(const std::vector<tensor::LoopId>& loops, tensor::DigitId digit) const;
  LoopMask MaskOf(const tensor::Affine& affine) const;
  LoopMask MaskOf(const tensor::Expr& e) const;
  LoopMask MaskOfIter(int iter) const;
  std::optional<tensor::Affine> OffsetOf(const std::vector<tensor::Expr>& indices,
                                         tensor::BufferId buffer) const;
  double LinesOf(const tensor::Affine& offset, tensor::BufferId buffer) const;
  bool IsContiguous(const tensor::Affine& offset, int64_t elements) const;

  const tensor::Program& program_;
  const BufferPlaces& places_;
  const tensor::Block& block_;
  const RegisterNest& nest_;
  const Costs& costs_;
  const std::optional<DotWork>& dot_;  ///< of an instruction that sums up several products
  std::vector<LoopMask> masks_;        ///< of the iterators
  std::vector<Operation> operations_;
  std::map<const tensor::ExprNode*, Value> by_node_;
  std::map<std::vector<int64_t>, Value> by_content_;
};

}  // namespace bayloom::feature
