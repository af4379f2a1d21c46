#include "bayloom/pretrain/pool_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom {
namespace {

Candidate MakeAnew(const SpaceGenerator& space, const PoolProgram& program,
                   const std::string& pool) {
  const Result<Trace> trace = Trace::FromJson(nlohmann::json::parse(program.trace, nullptr, false));
  if (trace) {
    Result<Candidate> candidate = space.Replay(program.space, *trace, RandomStream(0));
    if (candidate && candidate->hash == program.hash) return *std::move(candidate);
  }
  throw InputError(fmt::format(
      "cannot use {}: its programs were made by another version of this program or for another "
      "target; make a new pool",
      pool));
}

}  // namespace

std::vector<TaskId> GroupedTasks(ProgramPool& pool) {
  std::set<TaskId> tasks;
  for (const PoolGroup& group : pool.Groups()) {
    for (const PoolGroup::Member& member : group.members) tasks.insert(member.task);
  }
  return {tasks.begin(), tasks.end()};
}

std::map<int64_t, Outcome> MeasuredPrograms(Store& store, ProgramPool& pool, TaskId task,
                                            const Target& target) {
  const std::optional<TargetId> target_id = store.FindTarget(target);
  if (!target_id) return {};
  std::unordered_map<uint64_t, Outcome> outcomes;
  for (const Trial& trial : store.TrialsOf(task, *target_id)) {
    outcomes.emplace(trial.program_hash, trial.outcome);
  }
  std::map<int64_t, Outcome> measured;
  if (outcomes.empty()) return measured;
  pool.Visit(task, ProgramPool::Part::kPrograms,
             [&](int64_t first, std::span<const PoolProgram> programs) {
               for (size_t i = 0; i < programs.size(); ++i) {
                 const auto outcome = outcomes.find(programs[i].hash);
                 if (outcome == outcomes.end()) continue;
                 measured.emplace(first + static_cast<int64_t>(i), outcome->second);
               }
             });
  return measured;
}

int64_t CountMeasured(Store& store, ProgramPool& pool, TaskId task, const Target& target) {
  return static_cast<int64_t>(MeasuredPrograms(store, pool, task, target).size());
}

PoolMeasurement::PoolMeasurement(Store& store, ProgramPool& pool, Target target,
                                 Evaluator& evaluator, std::string purpose,
                                 std::function<bool()> stop)
    : store_(store),
      pool_(pool),
      target_(std::move(target)),
      evaluator_(evaluator),
      purpose_(std::move(purpose)),
      stop_(std::move(stop)) {}

std::map<int64_t, Outcome> PoolMeasurement::Measure(TaskId task, std::span<const int64_t> places,
                                                    const std::function<void()>& on_trial) {
  if (places.empty()) return {};
  if (!journal_) {
    journal_ = Journal::Begin(store_, store_.AddTarget(target_), purpose_, "{}", 0);
  }
  const SpaceGenerator space(store_.WorkloadOf(task), target_);
  std::vector<Candidate> candidates;
  for (const PoolProgram& program : pool_.At(task, places)) {
    candidates.push_back(MakeAnew(space, program, pool_.path()));
  }
  std::map<int64_t, Outcome> outcomes;
  PhaseClock clock(MonotonicSeconds);
  const double before = journal_->seconds();
  const double compiling = clock.In(&PhaseTimes::measure, [&] {
    return evaluator_.Evaluate(space.workload(), candidates, {.best = nullptr, .stop = stop_},
                               [&](int index, const Outcome& outcome) {
                                 journal_->Record(task, "pool", candidates[index], outcome);
                                 outcomes.emplace(places[index], outcome);
                                 if (on_trial) on_trial();
                               });
  });
  phases_.compile += compiling;
  phases_.measure += clock.times().measure - compiling;
  journal_->EndSlot(task, before + clock.times().measure, phases_, std::nullopt);
  return outcomes;
}

void PoolMeasurement::MeasureEach(int64_t programs, uint64_t seed, const Progress& progress) {
  std::map<TaskId, std::vector<int64_t>> open;
  int64_t total = 0, done = 0;
  for (const TaskId task : GroupedTasks(pool_)) {
    const std::map<int64_t, Outcome> measured = MeasuredPrograms(store_, pool_, task, target_);
    std::vector<int64_t>& places = open[task];
    for (int64_t place = 0; place < pool_.Count(task); ++place) {
      if (!measured.contains(place)) places.push_back(place);
    }
    RandomStream random(Hasher().Add(seed).Add(static_cast<uint64_t>(task)).Digest());
    random.Shuffle(places);
    const auto missing = std::max<int64_t>(0, programs - static_cast<int64_t>(measured.size()));
    places.resize(std::min<size_t>(places.size(), missing));
    total += static_cast<int64_t>(places.size());
  }
  for (const auto& [task, places] : open) {
    if (stop_()) return;
    Measure(task, places, [&] { progress(++done, total); });
  }
  if (journal_) journal_->Finish();
}

}  // namespace bayloom
