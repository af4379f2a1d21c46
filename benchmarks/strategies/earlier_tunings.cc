// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/strategies/earlier_tunings.h"

#include <optional>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"

namespace bayloom {

tuning::TrialPrior LearnFrom(const std::vector<std::string>& databases,
                             const target::Target& target) {
  const base::ScratchFolder folder;
  const std::string path = folder / "programs.db";
  record::Store store(path);
  record::SampleStore samples(path);
  tuning::EarlierTrials earlier(store, samples);
  base::ThreadPool threads(0);
  const int kept = tuning::EarlierTrialsOptions().samples_per_task;
  for (const std::string& database : databases) {
    record::Store records(database, record::Store::Mode::kReadOnly);
    for (const record::TaskRecord& task : records.Tasks()) {
      const sketch::SpaceGenerator space(records.WorkloadOf(task.id), target);
      earlier.Add(target, space.workload(), tuning::MeasuredSamples(records, space, kept, threads));
    }
  }
  std::optional<tuning::TrialPrior> prior = earlier.Learn(target, /*keep=*/false);
  if (!prior) throw InputError("--learn-from: too few trials on this target");
  return *std::move(prior);
}

}  // namespace bayloom
