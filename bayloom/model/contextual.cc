// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/contextual.h"

#include <utility>

namespace bayloom::model {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// One more group, of the columns that say what the task is.
ColumnGroups WithContextGroup(ColumnGroups groups, Index columns) {
  const int group = CountGroups(groups);
  groups.insert(groups.end(), static_cast<size_t>(columns), group);
  return groups;
}

}  // namespace

ContextualSurrogate::ContextualSurrogate(ColumnGroups group_of_column,
                                         std::vector<TaskObservations> earlier, RowMatrix contexts,
                                         GaussianProcessOptions options)
    : earlier_(std::move(earlier)),
      contexts_(std::move(contexts)),
      process_(WithContextGroup(std::move(group_of_column), contexts_.cols()), std::move(options)) {
}

RowMatrix ContextualSurrogate::WithContext(const RowMatrix& rows, Index task) const {
  RowMatrix wide(rows.rows(), rows.cols() + contexts_.cols());
  wide.leftCols(rows.cols()) = rows;
  wide.rightCols(contexts_.cols()) = contexts_.row(task).replicate(rows.rows(), 1);
  return wide;
}

void ContextualSurrogate::Fit(const RowMatrix& rows, const VectorXd& values,
                              base::RandomStream& random) {
  Index count = rows.rows();
  for (const TaskObservations& task : earlier_) count += task.rows.rows();
  RowMatrix all(count, rows.cols() + contexts_.cols());
  VectorXd all_values(count);
  Index at = 0;
  const auto append = [&](const RowMatrix& some, const VectorXd& some_values, Index task) {
    all.middleRows(at, some.rows()) = WithContext(some, task);
    all_values.segment(at, some.rows()) = some_values;
    at += some.rows();
  };
  for (size_t i = 0; i < earlier_.size(); ++i) {
    append(earlier_[i].rows, earlier_[i].values, static_cast<Index>(i));
  }
  append(rows, values, contexts_.rows() - 1);
  process_.Fit(all, all_values, random);
}

std::unique_ptr<Surrogate> ContextualSurrogate::Clone() const {
  return std::make_unique<ContextualSurrogate>(*this);
}

}  // namespace bayloom::model
