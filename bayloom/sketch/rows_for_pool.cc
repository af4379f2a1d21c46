// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/sketch/rows_for_pool.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/derivations/derivations.h"
#include "bayloom/sketch/pooled_blocks.h"

namespace bayloom::sketch {
namespace {

/// The value at another row: `by` rows further up. Loads of what lies in `in_place` stay.
tensor::Expr WithRowsMoved(const tensor::Expr& value, int64_t by,
                           const std::vector<tensor::BufferId>& in_place = {}) {
  if (value->op == tensor::ExprOp::kLoad &&
      std::ranges::find(in_place, value->index) != in_place.end()) {
    return value;
  }
  if (value->op == tensor::ExprOp::kIter && value->index == kRow) {
    return by == 0 ? value : value - tensor::Expr(by);
  }
  tensor::ExprNode moved = *value;
  for (tensor::Expr& operand : moved.operands) operand = WithRowsMoved(operand, by, in_place);
  return tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(moved)));
}

bool HasConjunct(const tensor::Expr& condition, const tensor::Expr& conjunct) {
  if (tensor::StructurallyEqual(condition, conjunct)) return true;
  return condition->op == tensor::ExprOp::kAnd &&
         std::ranges::any_of(condition->operands,
                             [&](const tensor::Expr& part) { return HasConjunct(part, conjunct); });
}

/// Gives a stage rows before and behind those that it has; what it computes for these stays.
void AddRows(tensor::Workload& workload, tensor::Stage& stage, const RowsOutside& added) {
  stage.iters[kRow].extent += added.before + added.behind;
  workload.buffers[stage.output].shape[kRow] += added.before + added.behind;
}

/// Padding for a convolution that computes more rows. False where it is no guarded copy.
bool AddRowsOfPadding(tensor::Workload& workload, tensor::Stage& stage, const RowsOutside& added) {
  const auto read = FindRowsRead(stage.value, static_cast<int>(stage.iters.size()));
  if (!read || stage.value->op != tensor::ExprOp::kSelect) return false;
  const tensor::BufferId source = OnlyLoad(stage.value)->index;
  if (!tensor::Loads(stage.value->operands[1], source)) return false;  // it is guarded otherwise
  const int64_t rows = workload.buffers[source].shape[read->dimension];
  AddRows(workload, stage, added);
  stage.value = WithRowsMoved(stage.value, added.before);
  tensor::ExprNode select = *stage.value;
  const tensor::Expr row = WithRowsMoved(tensor::IterVar(kRow), added.before);
  for (const tensor::Expr& inside :
       {tensor::Expr(-read->shift) <= row, row < tensor::Expr(rows - read->shift)}) {
    if (!HasConjunct(select.operands[0], inside)) {
      select.operands[0] = select.operands[0] && inside;
    }
  }
  stage.value = tensor::Expr(std::make_shared<const tensor::ExprNode>(std::move(select)));
  return true;
}

/// Makes the convolution compute the rows outside, and what is between take them over.
class RowAdder {
 public:
  RowAdder(tensor::Workload workload, const RowsOutside& added)
      : workload_(std::move(workload)), added_(added) {}

  std::optional<tensor::Workload> Run(const std::string& convolution,
                                      const std::string& pool_padding) {
    tensor::Stage* stage = StageOf(convolution);
    if (!AddRowsToConvolution(*stage)) return std::nullopt;
    for (++stage; stage->name != pool_padding; ++stage) {
      if (!AddRowsBetween(*stage)) return std::nullopt;
    }
    stage->value =
        tensor::Rewrite(stage->value, [&](const tensor::Expr& e) -> std::optional<tensor::Expr> {
          if (e->op != tensor::ExprOp::kLoad) return std::nullopt;
          std::vector<tensor::Expr> place = e->operands;
          place[kRow] = place[kRow] + tensor::Expr(added_.before);
          return tensor::Load(e->index, e->dtype, std::move(place));
        });
    for (const tensor::Stage* const end = &workload_.stages.back(); stage != end;) {
      if (ReadsRows(*++stage)) return std::nullopt;  // it would read others than before
    }
    return std::move(workload_);
  }

 private:
  tensor::Stage* StageOf(const std::string& name) {
    return &*std::ranges::find(workload_.stages, name, &tensor::Stage::name);
  }

  bool ReadsRows(const tensor::Stage& stage) const {
    return std::ranges::any_of(
        with_rows_, [&](tensor::BufferId buffer) { return tensor::Loads(stage.value, buffer); });
  }

  /// It reads padding, which gets as many rows more as its windows move by.
  bool AddRowsToConvolution(tensor::Stage& stage) {
    std::vector<tensor::Expr> moving;
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->op == tensor::ExprOp::kLoad && Mentions(e, kRow)) moving.push_back(e);
    });
    if (moving.size() != 1 || moving[0]->operands.size() != kRank) return false;
    const int padding = workload_.Producer(moving[0]->index);
    const auto form =
        tensor::ToLinear(moving[0]->operands[kRow], static_cast<int>(stage.iters.size()));
    if (padding < 0 || !form) return false;
    for (int d = 0; d < kRank; ++d) {
      if (d != kRow && Mentions(moving[0]->operands[d], kRow)) return false;
    }
    const int64_t step = form->coefficients[kRow];
    if (step < 1 || !AddRowsOfPadding(workload_, workload_.stages[padding],
                                      {added_.before * step, added_.behind * step})) {
      return false;
    }
    AddRows(workload_, stage, added_);
    stage.value = WithRowsMoved(stage.value, added_.before, {moving[0]->index});
    with_rows_.push_back(stage.output);
    return true;
  }

  /// Element by element of what has got rows.
  bool AddRowsBetween(tensor::Stage& stage) {
    if (stage.reduction != tensor::Reduction::kNone || stage.iters.size() != kRank) return false;
    bool in_place = true;
    tensor::Visit(stage.value, [&](const tensor::Expr& e) {
      if (e->op != tensor::ExprOp::kLoad) return;
      const bool has_rows = std::ranges::find(with_rows_, e->index) != with_rows_.end();
      for (int d = 0; d < static_cast<int>(e->operands.size()); ++d) {
        const tensor::Expr& index = e->operands[d];
        const bool is_row = index->op == tensor::ExprOp::kIter && index->index == kRow;
        in_place &= has_rows && d == kRow ? is_row : !Mentions(index, kRow);
      }
    });
    if (!in_place) return false;
    AddRows(workload_, stage, added_);
    stage.value = WithRowsMoved(stage.value, added_.before, with_rows_);
    with_rows_.push_back(stage.output);
    return true;
  }

  tensor::Workload workload_;
  const RowsOutside added_;
  std::vector<tensor::BufferId> with_rows_;
};

}  // namespace

std::optional<tensor::Workload> WithRowsForPool(const tensor::Workload& workload) {
  const std::optional<FoldedPair> pair = FindFoldedPair(workload);
  if (!pair) return std::nullopt;
  const std::vector<tensor::Block>& blocks = pair->schedule.program().blocks;
  const std::string& convolution = blocks[pair->blocks.convolution].name;
  if (PromisesWinograd(pair->schedule, convolution)) return std::nullopt;
  if (!pair->outside.any()) return workload;
  const auto has_open_rows = [](const tensor::Stage& stage) {
    return stage.iters.size() > kRow && stage.iters[kRow].bound.is_open();
  };
  if (std::ranges::any_of(workload.stages, has_open_rows)) return std::nullopt;
  if (pair->blocks.pool_padding < 0 || pair->blocks.padding < 0) return std::nullopt;
  return RowAdder(workload, pair->outside).Run(convolution, blocks[pair->blocks.pool_padding].name);
}

}  // namespace bayloom::sketch
