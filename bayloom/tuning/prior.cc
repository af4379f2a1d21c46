// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/prior.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/base/option_error.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/target/emulated.h"

namespace bayloom::tuning {

bool IsOfModel(const run::LearnFrom& sources) {
  return sources.files.size() == 1 && !record::IsDatabase(sources.files.front());
}

std::optional<TrialPrior> LearnFrom(const run::LearnFrom& sources, const target::Target& target,
                                    UserStore* store) {
  if (sources.store && !sources.files.empty()) {
    throw OptionError("learn-from",
                      "a tuning begins with one cost model, of the store or of files");
  }
  if (sources.store && store != nullptr && !target::IsEmulated(target)) return store->Prior(target);
  if (sources.files.empty() || IsOfModel(sources)) return std::nullopt;
  if (!std::ranges::all_of(sources.files, record::IsDatabase)) {
    throw OptionError("learn-from", "several files have to be databases of tunings");
  }
  return LearnFromDatabases(sources.files, target);
}

TrialPrior LearnFromDatabases(std::span<const std::string> databases,
                              const target::Target& target) {
  const base::ScratchFolder folder;
  const std::string path = folder / "programs.db";
  record::Store store(path);
  record::SampleStore samples(path);
  const EarlierTrialsOptions options;
  EarlierTrials earlier(store, samples, options);
  base::ThreadPool threads(0);
  for (const std::string& database : databases) {
    record::Store records(database, record::Store::Mode::kReadOnly);
    for (const record::TaskRecord& task : records.Tasks()) {
      const sketch::SpaceGenerator space(records.WorkloadOf(task.id), target);
      earlier.Add(target, space.workload(),
                  MeasuredSamples(records, space, options.samples_per_task, threads));
    }
  }
  std::optional<TrialPrior> prior = earlier.Learn(target, /*keep=*/false);
  if (prior) return *std::move(prior);
  throw OptionError("learn-from",
                    fmt::format("the databases have too few programs that were measured on this "
                                "target; {} are needed",
                                options.min_learnt));
}

}  // namespace bayloom::tuning
