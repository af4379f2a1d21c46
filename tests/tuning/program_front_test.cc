// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bayloom/cost/xgboost_model.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/record/json_lines.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tune.h"
#include "bayloom/tuning/tuned_network.h"
#include "tests/graph/separable_blocks.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/sized_evaluator.h"

namespace bayloom::tuning {
namespace {

using enum ProgramObjective;

const std::vector<ProgramObjective> kLatencyAndSize = {kLatency, kSize};

class ProgramFrontTest : public ::testing::Test {
 protected:
  Tuning Begin(std::optional<std::string> objectives, bool resume = false) {
    TuneOptions options;
    options.run.budget.trials = trials_;
    options.strategy = "random";
    options.divisions = "none";
    options.objectives = std::move(objectives);
    options.resume = resume;
    options.repeat = {.candidates = 2, .rounds = 2};
    return Tuning(NetworkSubject("net", network_), strategy::SimulatedTarget(), *store_, evaluator_,
                  options);
  }
  TunedNetwork Choose(const ProgramPreference& preference = {}) {
    return TunedNetwork::Choose(network_, strategy::SimulatedTarget(),
                                {.store = store_.get(),
                                 .zero_trials = {.population = 0},
                                 .divisions = Divisions::kNone,
                                 .preference = preference,
                                 .threads = 2});
  }
  static double SizeOf(const TunedNetwork& tuned) {
    double bytes = 0;
    for (const ChosenProgram& chosen : tuned.chosen)
      bytes += strategy::SimulatedMachine::CodeBytes(chosen.program);
    return bytes;
  }
  static double SecondsOf(const TunedNetwork& tuned) {
    double seconds = 0;
    for (size_t i = 0; i < tuned.chosen.size(); ++i) {
      seconds += tuned.network.tasks[i].weight * tuned.chosen[i].measured->value;
    }
    return seconds;
  }

  const graph::TaskGraph network_ = graph::ExtractTasks(
      graph::MakeSeparableBlocks({.blocks = 2, .height = 12, .width = 12, .channels = 16}));
  TemporaryFolder folder_;
  std::unique_ptr<record::Store> store_ = std::make_unique<record::Store>(folder_ / "a.db");
  SizedEvaluator evaluator_;
  int64_t trials_ = 120;
};

TEST_F(ProgramFrontTest, NoRecordedProgramIsBetterThanAMember) {
  Tuning tuning = Begin("latency,size");
  tuning.Run();
  for (const auto& task : tuning.session().tasks()) {
    const std::vector<FrontProgram> front =
        ProgramFront(*store_, task->space(), task->weight(), kLatencyAndSize);
    ASSERT_FALSE(front.empty());
    const record::TargetId target = *store_->FindTarget(task->space().target());
    for (const FrontProgram& member : front) {
      EXPECT_EQ(member.candidate.hash, member.trial.key);
      EXPECT_EQ(member.cost.code_bytes,
                strategy::SimulatedMachine::CodeBytes(member.candidate.program));
      for (const record::StoredTrial& trial : store_->BestOf(task->id(), target, 1000)) {
        EXPECT_FALSE(
            pareto::Dominates(CostOf(trial.outcome)->ValuesFor(task->weight(), kLatencyAndSize),
                              member.cost.ValuesFor(task->weight(), kLatencyAndSize)));
      }
    }
  }
}

TEST_F(ProgramFrontTest, LeavesOutWhatCannotBeMadeAgainOrHasNoSize) {
  const sketch::SpaceGenerator space(strategy::ConvolutionWorkload(), strategy::SimulatedTarget());
  record::RunRecord run;
  run.name = "convolution";
  run.target = store_->AddTarget(space.target());
  const record::RunId id = store_->BeginRun(run).id;
  const record::TaskId task = store_->AddTask(space.workload());
  const auto add = [&](uint64_t seed, double seconds, double bytes, bool is_damaged) {
    const sketch::Candidate candidate = *space.Sample(0, base::RandomStream(seed));
    record::StoredTrial trial;
    trial.run = id;
    trial.task = task;
    trial.target = *run.target;
    trial.ordinal = store_->CountTrials(id);
    trial.candidate = is_damaged ? "{}" : CandidateText(candidate);
    trial.key = candidate.hash;
    trial.proposer = "test";
    trial.outcome = trial::Outcome::Feasible(seconds);
    if (bytes != 0) trial.outcome.Set("code_bytes", bytes);
    store_->AddTrial(trial);
    return candidate.hash;
  };
  add(1, 1, 0, false);                           // no size
  const uint64_t fast = add(2, 2, 300, false);   // on the front
  add(3, 3, 100, true);                          // dominates the next, but is lost
  const uint64_t small = add(4, 4, 200, false);  // on the front
  add(6, 6, -1e300, false);                      // no size that a program has
  add(5, 5, 250, false);                         // dominated
  std::vector<uint64_t> members;
  for (const FrontProgram& member : ProgramFront(*store_, space, 1, kLatencyAndSize)) {
    members.push_back(member.trial.key);
  }
  EXPECT_EQ(members, (std::vector{fast, small}));
}

TEST_F(ProgramFrontTest, ExportedAndImportedItIsTheSame) {
  Tuning tuning = Begin("latency,size,memory");
  tuning.Run();
  std::stringstream lines;
  record::ExportJsonLines(*store_, lines);
  record::Store other(folder_ / "b.db");
  record::ImportJsonLines(other, lines, "lines");
  for (const auto& task : tuning.session().tasks()) {
    const auto keys = [&](record::Store& store) {
      std::vector<uint64_t> all;
      for (const FrontProgram& member :
           ProgramFront(store, task->space(), task->weight(), {kLatency, kSize, kMemory})) {
        all.push_back(member.trial.key);
      }
      return all;
    };
    EXPECT_EQ(keys(other), keys(*store_));
  }
}

TEST_F(ProgramFrontTest, ANetworkIsPutTogetherWithinItsLimits) {
  Tuning tuning = Begin("latency,size");
  tuning.Run();
  const std::vector<NetworkChoice> front = tuning.Front();
  ASSERT_GE(front.size(), 3u);
  const TunedNetwork fastest = Choose();
  EXPECT_DOUBLE_EQ(SecondsOf(fastest), tuning.Gain().total_seconds) << "as without a preference";
  for (const NetworkChoice& choice : front) {
    const TunedNetwork tuned = Choose({.max_size = choice.values[1]});
    EXPECT_LE(SizeOf(tuned), choice.values[1]);
    EXPECT_NEAR(SecondsOf(tuned), choice.values[0], 1e-9 * choice.values[0]);
  }
  const TunedNetwork smallest = Choose({.prefer = kSize});
  EXPECT_EQ(SizeOf(smallest), front.back().values[1]);
  const TunedNetwork nearly = Choose({.prefer = kSize, .max_slowdown = 0.2});
  EXPECT_LE(SecondsOf(nearly), 1.2 * SecondsOf(fastest));
  EXPECT_LE(SizeOf(nearly), SizeOf(fastest));
  EXPECT_THROW(Choose({.max_size = front.back().values[1] - 1}), InputError);
}

TEST_F(ProgramFrontTest, TheProgramsOfAFrontAreMeasuredAgain) {
  Tuning tuning = Begin("latency,size");
  tuning.Run();
  for (const auto& task : tuning.session().tasks()) {
    int members = 0;
    std::set<int64_t> repeated;
    for (const record::Repeat& repeat : store_->RepeatsOf(tuning.session().id())) {
      if (repeat.task == task->id()) repeated.insert(repeat.trial);
    }
    for (const FrontProgram& member :
         ProgramFront(*store_, task->space(), task->weight(), kLatencyAndSize)) {
      if (++members > 8) break;
      EXPECT_TRUE(repeated.contains(member.trial.ordinal));
    }
  }
}

TEST_F(ProgramFrontTest, ASessionKeepsItsObjectives) {
  trials_ = 40;
  Begin("size,latency").Run();
  trials_ = 60;
  EXPECT_EQ(Begin(std::nullopt, true).objectives(), kLatencyAndSize);
  EXPECT_EQ(Begin("latency,size", true).objectives(), kLatencyAndSize);
  EXPECT_THROW(Begin("latency", true), InputError);
  EXPECT_EQ(Begin(std::nullopt).objectives(), std::vector{kLatency});
}

TEST_F(ProgramFrontTest, AResumedSessionSearchesTheCompromisesThatItWouldHave) {
  const auto run = [&](record::Store& store, int64_t trials, std::optional<record::RunId> resume) {
    cost::XgboostModel model;
    SessionOptions options = QuickOptions();
    options.objectives = kLatencyAndSize;
    options.run.budget.trials = trials;
    options.resume = resume;
    Session session(strategy::SimulatedTarget(), TwoTasks(), store, &model, evaluator_, options);
    session.Run();
    return session.id();
  };
  const auto hashes = [](record::Store& store, record::RunId id) {
    std::vector<uint64_t> all;
    for (const record::StoredTrial& trial : store.TrialsOfRun(id)) all.push_back(trial.key);
    return all;
  };
  const record::RunId whole = run(*store_, 96, std::nullopt);
  record::Store other(folder_ / "b.db");
  const record::RunId part = run(other, 48, std::nullopt);
  EXPECT_EQ(run(other, 96, part), part);
  EXPECT_EQ(hashes(other, part), hashes(*store_, whole));
}

}  // namespace
}  // namespace bayloom::tuning
