// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bayloom/record/store.h"
#include "bayloom/report/table.h"
#include "bayloom/search/scenario.h"

namespace bayloom::cli {

struct ShowRunOptions {
  std::string database;
  record::RunId run = 0;
  bool history = false;
  bool why = false;  ///< of mappings: what each memory costs
  bool json = false;
};

/// Runs, each a row with its best value.
report::Table RunTable(record::Store& store, std::span<const record::RunRecord> runs);

/// The scenario that a run of this database searched. Throws InputError that names the database if
/// it is none.
search::Scenario ScenarioIn(const record::Store& store, const record::RunRecord& run);

/// One run of a database: its best candidate or its tasks, and its history if asked for.
void ShowRun(const ShowRunOptions& options);
/// The best mapping of a run of `bayloom map`, what the model says of it, and why; of a network's
/// run only why its layers cost what they do.
void PrintMapping(record::Store& store, const record::RunRecord& run, bool why);
/// The same for a search of a scenario, in the scenario's terms.
void ShowSearch(record::Store& store, const record::RunRecord& run, const ShowRunOptions& options);

}  // namespace bayloom::cli
