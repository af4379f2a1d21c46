// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/thread_pool.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/record/sample_store.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/target/target.h"

namespace bayloom::tuning {

/// A cost model that was trained on what earlier tunings have measured.
struct TrialPrior {
  std::shared_ptr<const cost::ThroughputModel> model;
  record::StoredModel stored;
};

struct EarlierTrialsOptions {
  /// Programs kept of a task, and bytes of all samples (as packed) in the database.
  int samples_per_task = 128;
  int64_t bytes = int64_t{32} << 20;
  /// Programs that a model learns from at most, so that training takes a second or two, and at
  /// least.
  int64_t max_learnt = 3000;
  int64_t min_learnt = 100;
  /// A model is trained again once the measurements are more by this share than at its training.
  double growth = 0.2;
};

/// The measured trials of earlier tunings, of all networks, shapes and precisions, as far as they
/// were made on one target: what a cost model learns from before the first trial of the next.
///
/// Where a task has more programs than are kept, those stay whose throughputs are spread most, the
/// fast ones first (Bi et al. 2023, algorithm 2, on measured throughputs). Where all tasks together
/// take too much room, those go to which nothing was added for longest.
class EarlierTrials {
 public:
  /// Both are of the same file and must outlive it.
  EarlierTrials(record::Store& store, record::SampleStore& samples,
                const EarlierTrialsOptions& options = {})
      : store_(store), samples_(samples), options_(options) {}

  /// Adds measurements of a workload's programs. A program that is there takes the newer time.
  void Add(const target::Target& target, const tensor::Workload& workload,
           std::vector<record::MeasuredSample> measured);
  /// The model of what was measured on the target: the one trained last as long as there is hardly
  /// more to learn from, else a new one, which is kept if `keep`. nullopt where too little was
  /// measured. The same samples give the same model.
  std::optional<TrialPrior> Learn(const target::Target& target, bool keep);

  /// Tasks that something was measured of, those measured longest ago first.
  std::vector<record::SampledTask> TasksOn(const target::Target& target);
  record::TaskSamples SamplesOf(record::TaskId task, const target::Target& target);

 private:
  std::vector<cost::Sample> Selected(std::span<const record::SampledTask> tasks,
                                     record::TargetId target);

  record::Store& store_;
  record::SampleStore& samples_;
  EarlierTrialsOptions options_;
};

/// The model of a database by its hash; nullopt where it is not there or cannot be read.
std::optional<TrialPrior> FindPrior(record::SampleStore& samples, uint64_t hash);

/// The trials that `records` has of the space's workload and target, made again: `count` at most,
/// chosen as EarlierTrials does. What the design spaces of today do not make any more is left out.
std::vector<record::MeasuredSample> MeasuredSamples(record::Store& records,
                                                    const sketch::SpaceGenerator& space, int count,
                                                    base::ThreadPool& threads);

}  // namespace bayloom::tuning
