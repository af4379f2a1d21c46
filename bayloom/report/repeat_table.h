// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/record/store.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// The candidates that a run evaluated again at its end, in turns, to choose among them: a row
/// each, by task and then by the median of the repeats, best first. Columns: task (in runs that
/// have tasks), trial ("default" for the default program), rounds, the trial's value, the
/// median of the repeats, and the ratio of the two. Empty where the run repeated nothing.
Table RepeatTable(record::Store& store, const record::RunRecord& run);

}  // namespace bayloom::report
