// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module record: the SQLite store of runs of all kinds with their trials, tasks and targets, of
/// pools of unmeasured programs, and of samples and models of the costs of programs.

#include "bayloom/record/choice_store.h"
#include "bayloom/record/database.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/record/json_text.h"
#include "bayloom/record/machine_failures.h"
#include "bayloom/record/pool_chunk.h"
#include "bayloom/record/program_pool.h"
#include "bayloom/record/recorded_run.h"
#include "bayloom/record/run_record.h"
#include "bayloom/record/run_trials.h"
#include "bayloom/record/sample_store.h"
#include "bayloom/record/store.h"

namespace bayloom {

using record::Store;

}  // namespace bayloom
