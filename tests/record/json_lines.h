// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "bayloom/record/json_lines.h"
#include "tests/record/sample.h"

namespace bayloom::record {

/// A store as text, as ExportJsonLines writes it.
inline std::string Export(Store& store) {
  std::ostringstream out;
  ExportJsonLines(store, out);
  return out.str();
}

/// Of a text that is said to come from a file r.jsonl.
inline ImportSummary Import(Store& store, const std::string& text) {
  std::istringstream in(text);
  return ImportJsonLines(store, in, "r.jsonl");
}

/// A session with five values and a failure, its state, its metrics and two repeats.
inline void Fill(Store& store) {
  const Context context(store);
  for (int i = 0; i < 5; ++i) store.AddTrial(MakeTrial(context, i, 0.1 / (i + 3)));
  StoredTrial crash = MakeTrial(context, 5, NAN);
  crash.outcome =
      trial::Outcome::Infeasible(trial::Verdict::kCrash, "signal 11 (SIGSEGV) \"while\" running\n");
  store.AddTrial(crash);
  store.SaveState(context.run, R"({"rng":[1,2]})",
                  std::vector<Metric>{{context.task, 0, "rmse", 0.1}, {0, 0, "drift", NAN}});
  store.SetFinished(context.run, true);
  Repeat by_default = MakeRepeat(context, 0, 0, 9);
  by_default.trial_run = 0;
  store.AddRepeats(std::vector<Repeat>{by_default, MakeRepeat(context, 3, 0, 0.125)});
}

/// A search with a value and a failure in the store.
inline RunId FillSearch(Store& store) {
  const RunId run = store.BeginRun(SampleSearch("flags")).id;
  store.AddTrial(MakeConfiguration(run, 0, 0.1));
  StoredTrial failed = MakeConfiguration(run, 1, NAN);
  failed.outcome = trial::Outcome::Infeasible(trial::Verdict::kTimeout, "took \"too\" long");
  store.AddTrial(failed);
  return run;
}

}  // namespace bayloom::record
