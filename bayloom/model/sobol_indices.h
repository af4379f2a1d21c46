// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "bayloom/model/matern.h"
#include "bayloom/model/sobol_index.h"
#include "bayloom/model/surrogate.h"

namespace bayloom::model {

/// First-order and total Sobol indices of each group of columns, by the estimators of Saltelli et
/// al. (2010, table 2, b and f):
///
///     S_g = mean(f(B) (f(AB_g) - f(A))) / V,    T_g = mean((f(A) - f(AB_g))^2) / (2 V),
///
/// where AB_g is A with the columns of group g from B. Confidence intervals are those of a
/// bootstrap over the rows. A constant function has indices 0.
///
/// `a` and `b` hold independent draws of the parameters, as many rows each: some 1000 for
/// rankings. `function` is called with as many rows at a time, groups + 2 times.
std::vector<SobolIndex> SobolIndices(
    const std::function<Eigen::VectorXd(const RowMatrix&)>& function, const RowMatrix& a,
    const RowMatrix& b, const ColumnGroups& group_of_column, base::RandomStream& random);

}  // namespace bayloom::model
