// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_sampling.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/json.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/strategy/breeding.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/zero_trial_program.h"

namespace bayloom::pretrain {
namespace {

constexpr int64_t kChunk = 128;
constexpr int64_t kParents = 256;
/// Generations without a new child, after which there seem to be none.
constexpr int kFruitlessGenerations = 6;

/// The pool of one task while programs are added to it.
class Sampling {
 public:
  Sampling(const sketch::SpaceGenerator& space, record::TaskId task, record::ProgramPool& pool,
           base::ThreadPool& threads)
      : space_(space), task_(task), pool_(pool), threads_(threads) {
    pool_.Visit(task_, record::ProgramPool::Part::kPrograms,
                [&](int64_t, std::span<const record::PoolProgram> programs) {
                  for (const record::PoolProgram& program : programs) known_.insert(program.hash);
                });
  }

  int64_t count() const { return static_cast<int64_t>(known_.size()); }

  /// Both add up to a chunk of at most `most` programs and say how many there were.
  int64_t AddRandom(int64_t most, base::RandomStream& random) {
    return Add(strategy::DrawUnknown(space_, static_cast<int>(std::min(most, kChunk)), known_,
                                     random, threads_),
               "random");
  }
  int64_t AddEvolved(int64_t most, const std::vector<strategy::CandidatePtr>& parents,
                     base::RandomStream& random) {
    const std::vector<strategy::WeightedMutator> mutators = strategy::MutatorsFor(space_);
    strategy::EvolutionaryOptions options;
    options.mutation_probability = 1;
    std::vector<strategy::CandidatePtr> children =
        strategy::Breed(space_, mutators, parents, std::vector<double>(parents.size(), 1.0),
                        static_cast<int>(kChunk), options, random, threads_);
    std::erase_if(children, [&](const strategy::CandidatePtr& c) {
      return most == 0 || !known_.insert(c->hash).second || (--most, false);
    });
    return Add(children, "evolved");
  }

  /// Up to kParents of the programs that are there, drawn uniformly and made again.
  std::vector<strategy::CandidatePtr> Parents(base::RandomStream& random) {
    std::vector<int64_t> places(pool_.Count(task_));
    std::iota(places.begin(), places.end(), int64_t{0});
    random.Shuffle(places);
    places.resize(std::min<size_t>(places.size(), kParents));
    const std::vector<record::PoolProgram> programs = pool_.At(task_, places);
    std::vector<strategy::CandidatePtr> parents(programs.size());
    threads_.ParallelFor(static_cast<int64_t>(programs.size()), [&](int64_t i) {
      const nlohmann::json json = base::ParseJsonOrDiscard(programs[i].trace);
      const Result<tensor::Trace> trace = tensor::Trace::FromJson(json);
      if (!trace) return;
      Result<sketch::Candidate> parent =
          space_.Replay(programs[i].space, *trace, base::RandomStream(0));
      if (parent) parents[i] = std::make_shared<const sketch::Candidate>(*std::move(parent));
    });
    std::erase(parents, nullptr);
    return parents;
  }

  bool IsKnown(uint64_t hash) const { return known_.contains(hash); }

  int64_t Add(const std::vector<strategy::CandidatePtr>& candidates, const std::string& origin) {
    std::vector<record::PoolProgram> programs(candidates.size());
    threads_.ParallelFor(static_cast<int64_t>(candidates.size()), [&](int64_t i) {
      const sketch::Candidate& candidate = *candidates[i];
      programs[i] = {.hash = candidate.hash,
                     .space = candidate.space,
                     .origin = origin,
                     .trace = candidate.trace.ToJson().dump(),
                     .features = feature::ExtractFeatures(candidate.program)};
    });
    pool_.Add(task_, programs);
    return static_cast<int64_t>(programs.size());
  }

 private:
  const sketch::SpaceGenerator& space_;
  record::TaskId task_;
  record::ProgramPool& pool_;
  base::ThreadPool& threads_;
  strategy::HashSet known_;
};

}  // namespace

int64_t SampleIntoPool(const sketch::SpaceGenerator& space, record::TaskId task,
                       record::ProgramPool& pool, const PoolSamplingOptions& options,
                       base::ThreadPool& threads) {
  const int64_t before = pool.Count(task);
  if (before >= options.programs) return 0;
  Sampling sampling(space, task, pool, threads);
  base::RandomStream random(base::Hasher()
                                .Add(options.seed)
                                .Add(space.workload().StructuralHash())
                                .Add(static_cast<uint64_t>(before))
                                .Digest());
  const auto random_part = static_cast<int64_t>(
      std::ceil(static_cast<double>(options.programs) * (1 - options.evolved_share)));
  while (sampling.count() < random_part && !options.stop()) {
    if (sampling.AddRandom(random_part - sampling.count(), random) == 0) break;
  }
  if (options.stop()) return sampling.count() - before;
  const std::vector<strategy::CandidatePtr> parents = sampling.Parents(random);
  int fruitless = parents.empty() ? kFruitlessGenerations : 0;
  while (sampling.count() < options.programs && fruitless < kFruitlessGenerations &&
         !options.stop()) {
    const int64_t added = sampling.AddEvolved(options.programs - sampling.count(), parents, random);
    fruitless = added > 0 ? 0 : fruitless + 1;
  }
  return sampling.count() - before;
}

int64_t AddRecordedPrograms(const sketch::SpaceGenerator& space, record::Store& store,
                            record::ProgramPool& pool) {
  const std::optional<record::TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<record::TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return 0;
  base::ThreadPool threads(1);
  Sampling sampling(space, *task, pool, threads);
  int64_t added = 0;
  strategy::HashSet met;
  std::vector<strategy::CandidatePtr> chunk;
  for (const record::StoredTrial& trial : store.TrialsOf(*task, *target)) {
    if (sampling.IsKnown(trial.key) || !met.insert(trial.key).second) continue;
    Result<sketch::Candidate> candidate = tuning::RestoreCandidate(space, trial);
    // A pool's programs are made by traces, which the plain one has none of.
    if (!candidate || tuning::IsPlain(*candidate)) continue;
    chunk.push_back(std::make_shared<const sketch::Candidate>(*std::move(candidate)));
    if (static_cast<int64_t>(chunk.size()) < kChunk) continue;
    added += sampling.Add(chunk, "recorded");
    chunk.clear();
  }
  return added + sampling.Add(chunk, "recorded");
}

}  // namespace bayloom::pretrain
