#include "bayloom/pretrain/pool_sampling.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/search/breeding.h"
#include "bayloom/tuning/restore.h"

namespace bayloom {
namespace {

constexpr int64_t kChunk = 128;
constexpr int64_t kParents = 256;
/// Generations without a new child, after which there seem to be none.
constexpr int kFruitlessGenerations = 6;

/// The pool of one task while programs are added to it.
class Sampling {
 public:
  Sampling(const SpaceGenerator& space, TaskId task, ProgramPool& pool, ThreadPool& threads)
      : space_(space), task_(task), pool_(pool), threads_(threads) {
    pool_.Visit(task_, ProgramPool::Part::kPrograms,
                [&](int64_t, std::span<const PoolProgram> programs) {
                  for (const PoolProgram& program : programs) known_.insert(program.hash);
                });
  }

  int64_t count() const { return static_cast<int64_t>(known_.size()); }

  /// Both add up to a chunk of at most `most` programs and say how many there were.
  int64_t AddRandom(int64_t most, RandomStream& random) {
    return Add(
        DrawUnknown(space_, static_cast<int>(std::min(most, kChunk)), known_, random, threads_),
        "random");
  }
  int64_t AddEvolved(int64_t most, const std::vector<CandidatePtr>& parents, RandomStream& random) {
    const std::vector<WeightedMutator> mutators = CpuMutators(space_.workload());
    EvolutionaryOptions options;
    options.mutation_probability = 1;
    std::vector<CandidatePtr> children =
        Breed(space_, mutators, parents, std::vector<double>(parents.size(), 1.0),
              static_cast<int>(kChunk), options, random, threads_);
    std::erase_if(children, [&](const CandidatePtr& c) {
      return most == 0 || !known_.insert(c->hash).second || (--most, false);
    });
    return Add(children, "evolved");
  }

  /// Up to kParents of the programs that are there, drawn uniformly and made anew.
  std::vector<CandidatePtr> Parents(RandomStream& random) {
    std::vector<int64_t> places(pool_.Count(task_));
    std::iota(places.begin(), places.end(), int64_t{0});
    random.Shuffle(places);
    places.resize(std::min<size_t>(places.size(), kParents));
    const std::vector<PoolProgram> programs = pool_.At(task_, places);
    std::vector<CandidatePtr> parents(programs.size());
    threads_.ParallelFor(static_cast<int64_t>(programs.size()), [&](int64_t i) {
      const nlohmann::json json = nlohmann::json::parse(programs[i].trace, nullptr, false);
      const Result<Trace> trace = Trace::FromJson(json);
      if (!trace) return;
      Result<Candidate> parent = space_.Replay(programs[i].space, *trace, RandomStream(0));
      if (parent) parents[i] = std::make_shared<const Candidate>(*std::move(parent));
    });
    std::erase(parents, nullptr);
    return parents;
  }

  bool IsKnown(uint64_t hash) const { return known_.contains(hash); }

  int64_t Add(const std::vector<CandidatePtr>& candidates, const std::string& origin) {
    std::vector<PoolProgram> programs(candidates.size());
    threads_.ParallelFor(static_cast<int64_t>(candidates.size()), [&](int64_t i) {
      const Candidate& candidate = *candidates[i];
      programs[i] = {.hash = candidate.hash,
                     .space = candidate.space,
                     .origin = origin,
                     .trace = candidate.trace.ToJson().dump(),
                     .features = ExtractFeatures(candidate.program)};
    });
    pool_.Add(task_, programs);
    return static_cast<int64_t>(programs.size());
  }

 private:
  const SpaceGenerator& space_;
  TaskId task_;
  ProgramPool& pool_;
  ThreadPool& threads_;
  HashSet known_;
};

}  // namespace

int64_t SampleIntoPool(const SpaceGenerator& space, TaskId task, ProgramPool& pool,
                       const PoolSamplingOptions& options, ThreadPool& threads) {
  const int64_t before = pool.Count(task);
  if (before >= options.programs) return 0;
  Sampling sampling(space, task, pool, threads);
  RandomStream random(Hasher()
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
  const std::vector<CandidatePtr> parents = sampling.Parents(random);
  int fruitless = parents.empty() ? kFruitlessGenerations : 0;
  while (sampling.count() < options.programs && fruitless < kFruitlessGenerations &&
         !options.stop()) {
    const int64_t added = sampling.AddEvolved(options.programs - sampling.count(), parents, random);
    fruitless = added > 0 ? 0 : fruitless + 1;
  }
  return sampling.count() - before;
}

int64_t AddRecordedPrograms(const SpaceGenerator& space, Store& store, ProgramPool& pool) {
  const std::optional<TaskId> task = store.FindTask(space.workload().StructuralHash());
  const std::optional<TargetId> target = store.FindTarget(space.target());
  if (!task || !target) return 0;
  ThreadPool threads(1);
  Sampling sampling(space, *task, pool, threads);
  int64_t added = 0;
  HashSet met;
  std::vector<CandidatePtr> chunk;
  for (const StoredTrial& trial : store.TrialsOf(*task, *target)) {
    if (sampling.IsKnown(trial.key) || !met.insert(trial.key).second) continue;
    Result<Candidate> candidate = RestoreCandidate(space, trial);
    if (!candidate) continue;
    chunk.push_back(std::make_shared<const Candidate>(*std::move(candidate)));
    if (static_cast<int64_t>(chunk.size()) < kChunk) continue;
    added += sampling.Add(chunk, "recorded");
    chunk.clear();
  }
  return added + sampling.Add(chunk, "recorded");
}

}  // namespace bayloom
