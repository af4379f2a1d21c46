// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/record/store.h"
#include "bayloom/report/line_chart.h"

namespace bayloom::report {

/// The course of a run that tunes or measures programs, drawn from the store.

/// Best-so-far curves of all tasks: throughput relative to the best in the end (1) over the
/// task's trials. Tasks without a feasible program have no curve. Throws InputError if there is no
/// such run.
LineChart ConvergenceChart(record::Store& store, record::RunId run);

/// How well the cost model predicted each batch before learning it: root mean squared error, rank
/// correlation, pairwise accuracy and top recall over the batches. Throws as above.
LineChart ModelQualityChart(record::Store& store, record::RunId run);

}  // namespace bayloom::report
