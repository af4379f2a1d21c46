// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// What each level does for each tensor it keeps, outermost level first: words of one instance, and
/// the energy of all.
Table TrafficTable(const mapspace::Evaluation& evaluation, const mapspace::Mapping& mapping,
                   const mapspace::Problem& problem, const mapspace::Architecture& architecture);

/// "272 uJ: 3.606 pJ per multiply-accumulate, 294,912 cycles, 100.0 % of the multipliers".
std::string EvaluationLine(const mapspace::Evaluation& evaluation);

/// What becomes of each level's accesses to a tensor because of zeros: words of one instance as
/// actual + gated + skipped, bits of metadata moved, and the energy of these.
Table SparseTable(const mapspace::SparseEvaluation& sparse, const mapspace::Mapping& mapping,
                  const mapspace::Problem& problem, const mapspace::Architecture& architecture);
/// "multiplications: 40 of 160, 20 gated, 100 skipped by the multipliers or not reached".
std::string ComputesLine(const mapspace::SparseEvaluation& sparse);

}  // namespace bayloom::report
