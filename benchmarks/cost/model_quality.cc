// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How well cost models predict the measurements in a store: replays its trials in the order in
// which they were made, batch by batch, and prints how each batch was predicted before it was
// learnt. Usage: cost_model_quality tuning.db
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bayloom/base/result.h"
#include "bayloom/cost/random_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "bayloom/record/store.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/tuning/restore.h"

namespace bayloom {
namespace {

constexpr size_t kBatch = 64;

/// The feasible and infeasible trials of a task, as far as they can still be replayed.
std::vector<cost::Sample> SamplesOf(record::Store& store, record::TaskId task,
                                    record::TargetId target) {
  const sketch::SpaceGenerator generator(store.WorkloadOf(task), store.TargetOf(target));
  std::vector<cost::Sample> samples;
  for (const record::StoredTrial& trial : store.TrialsOf(task, target)) {
    const Result<sketch::Candidate> candidate = tuning::RestoreCandidate(generator, trial);
    if (!candidate) continue;
    cost::Sample sample{.task = static_cast<uint64_t>(task),
                        .features = feature::ExtractFeatures(candidate->program),
                        .seconds = {}};
    if (trial.outcome.ok()) sample.seconds = trial.outcome.value;
    samples.push_back(std::move(sample));
  }
  return samples;
}

/// Batches of all tasks in turn.
std::vector<std::vector<cost::Sample>> BatchesOf(record::Store& store) {
  std::vector<std::vector<cost::Sample>> tasks;
  for (record::TargetId target : store.Targets()) {
    for (const record::TaskRecord& task : store.Tasks()) {
      tasks.push_back(SamplesOf(store, task.id, target));
    }
  }
  std::vector<std::vector<cost::Sample>> batches;
  size_t longest = 0;
  for (const std::vector<cost::Sample>& samples : tasks)
    longest = std::max(longest, samples.size());
  for (size_t begin = 0; begin < longest; begin += kBatch) {
    for (const std::vector<cost::Sample>& samples : tasks) {
      if (begin >= samples.size()) continue;
      const size_t end = std::min(begin + kBatch, samples.size());
      batches.emplace_back(samples.begin() + begin, samples.begin() + end);
    }
  }
  return batches;
}

void PrintQuality(const std::string& name, cost::CostModel& model,
                  const std::vector<std::vector<cost::Sample>>& batches, bool learns) {
  cost::BatchMetrics mean;
  int count = 0;
  for (const std::vector<cost::Sample>& batch : batches) {
    const cost::BatchMetrics metrics = model.Update(batch);
    if (learns && metrics.training_samples == 0) continue;
    ++count;
    mean.rmse += metrics.rmse;
    mean.spearman += metrics.spearman;
    mean.pairwise_accuracy += metrics.pairwise_accuracy;
    mean.top_recall += metrics.top_recall;
    mean.top1_score += metrics.top1_score;
    mean.update_seconds += metrics.update_seconds;
  }
  fmt::print("{:<30} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f} {:>9.3f}\n", name,
             mean.rmse / count, mean.spearman / count, mean.pairwise_accuracy / count,
             mean.top_recall / count, mean.top1_score / count, mean.update_seconds / count);
}

void Compare(const std::string& path) {
  record::Store store(path, record::Store::Mode::kReadOnly);
  const std::vector<std::vector<cost::Sample>> batches = BatchesOf(store);
  if (batches.size() < 2) throw InputError(path + " has fewer than two batches of trials");
  fmt::print("{} batches of up to {} trials\n", batches.size(), kBatch);
  fmt::print("{:<30} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}\n", "model", "rmse", "spearman", "pairs",
             "recall", "top-1", "update s");

  cost::RandomModel random(1);
  PrintQuality("random", random, batches, /*learns=*/false);
  cost::XgboostOptions pack_sum;
  pack_sum.trees.encoding = cost::RowEncoding::kRowPerStore;
  pack_sum.refit_growth = 0;
  cost::XgboostModel pack_sum_model(pack_sum);
  PrintQuality("row per store, always refit", pack_sum_model, batches, /*learns=*/true);
  cost::XgboostOptions always;
  always.refit_growth = 0;
  cost::XgboostModel always_model(always);
  PrintQuality("row per program, always refit", always_model, batches, /*learns=*/true);
  cost::XgboostModel model;
  PrintQuality("row per program (default)", model, batches, /*learns=*/true);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: cost_model_quality tuning.db\n");
    return 2;
  }
  try {
    bayloom::Compare(argv[1]);
  } catch (const bayloom::InputError& error) {
    fmt::print(stderr, "cost_model_quality: {}\n", error.what());
    return 2;
  }
}
