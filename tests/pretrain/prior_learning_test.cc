// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/prior_learning.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/tensor/operators.h"
#include "tests/pretrain/pretending_evaluator.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

class PriorLearningTest : public testing::Test {
 protected:
  PriorLearningTest() {
    options_.budget.trials = 40;
    options_.candidates = 40;
    options_.threads = 1;
  }
  /// As if these products had been tuned: some of their programs are known.
  void Tune(std::vector<int64_t> rows) {
    for (const int64_t m : rows) {
      const tensor::Workload product = tensor::MatmulWorkload(m, 64, 64);
      const sketch::SpaceGenerator space(product, target_);
      std::vector<record::MeasuredSample> measured;
      for (uint64_t seed = 0; measured.size() < 60; ++seed) {
        const Result<sketch::Candidate> candidate = space.Sample(0, base::RandomStream(seed));
        if (!candidate) continue;
        measured.push_back({.hash = candidate->hash,
                            .seconds = PretendingEvaluator::SecondsOf(candidate->hash),
                            .features = feature::ExtractFeatures(candidate->program)});
      }
      tuning::EarlierTrials(store_, samples_).Add(target_, product, std::move(measured));
    }
  }
  trial::StopReason Learn(PriorLearningStatus* last = nullptr) {
    PriorLearning learning(store_, samples_, target_, evaluator_, options_);
    return learning.Run([&](const PriorLearningStatus& status) {
      if (last != nullptr) *last = status;
    });
  }
  int64_t Given() { return samples_.Given(*store_.FindTarget(target_)); }

  TemporaryFolder folder_;
  record::Store store_{folder_ / "programs.db"};
  record::SampleStore samples_{folder_ / "programs.db"};
  target::Target target_;
  PretendingEvaluator evaluator_;
  PriorLearningOptions options_;
};

TEST_F(PriorLearningTest, MeasuresNewProgramsOfWhatWasTunedInTurns) {
  Tune({64, 128, 192});
  const int64_t before = Given();
  PriorLearningStatus status;
  EXPECT_EQ(Learn(&status), trial::StopReason::kTrials);
  EXPECT_EQ(status.measured, 40);
  EXPECT_EQ(status.tasks, 3);
  EXPECT_EQ(Given(), before + 40) << "some were known";
  std::vector<int64_t> given;
  for (const record::SampledTask& task : samples_.TasksOn(*store_.FindTarget(target_))) {
    given.push_back(task.given);
  }
  const auto [least, most] = std::ranges::minmax(given);
  EXPECT_LE(most - least, options_.batch) << "one of them was forgotten";
}

TEST_F(PriorLearningTest, StopsAtOnceAndGoesOnWhereItWas) {
  Tune({64, 128});
  const int64_t before = Given();
  options_.budget.stop = [this] { return evaluator_.evaluated >= 19; };
  EXPECT_EQ(Learn(), trial::StopReason::kStopped);
  EXPECT_EQ(evaluator_.evaluated, 19);
  EXPECT_EQ(Given(), before + 19) << "what was measured before the stop is kept";
  options_.budget.stop = [] { return false; };
  options_.budget.trials = 21;
  EXPECT_EQ(Learn(), trial::StopReason::kTrials);
  EXPECT_EQ(Given(), before + 40) << "something was measured twice";
}

TEST_F(PriorLearningTest, WaitsWhileOthersUseTheMachineAndDropsWhatTheyDisturbed) {
  Tune({64});
  double now = 0;
  std::vector<double> others = {2, 2, 0.1};  // at the first looks
  size_t looks = 0;
  int while_busy = 0;
  options_.budget.clock = [&] { return now; };
  options_.budget.trials = 8;
  QuietWatch quiet;
  quiet.limit = 0.5;
  quiet.wait = [&](double seconds) { now += seconds; };
  quiet.taken = [&] {
    if (looks < 2) while_busy = evaluator_.evaluated;
    // The first look after a batch finds that it was disturbed: the fourth is before it.
    const size_t look = looks++;
    return look < others.size() ? others[look] : look == 4 ? 1.5 : 0.0;
  };
  options_.quiet = quiet;
  const int64_t before = Given();
  PriorLearningStatus status;
  EXPECT_EQ(Learn(&status), trial::StopReason::kTrials);
  EXPECT_EQ(while_busy, 0) << "it measured while others used the machine";
  EXPECT_EQ(status.disturbed, 8);
  EXPECT_EQ(status.measured, 8);
  EXPECT_EQ(Given(), before + 8) << "what was disturbed was kept";
  EXPECT_GT(status.waited, 2);
}

TEST_F(PriorLearningTest, OthersThatNeverLeaveTheMachineAreWaitedForUntilTheTimeIsUp) {
  Tune({64});
  double now = 0;
  options_.budget.clock = [&] { return now; };
  options_.budget.seconds = 100;
  options_.quiet =
      QuietWatch{.taken = [] { return 1.0; }, .limit = 0.5, .wait = [&](double s) { now += s; }};
  EXPECT_EQ(Learn(), trial::StopReason::kTime);
  EXPECT_EQ(evaluator_.evaluated, 0);
}

TEST_F(PriorLearningTest, FamiliesGiveOperatorsThatWereNeverTuned) {
  EXPECT_THROW(Learn(), InputError);
  options_.families = {"dense", "softmax"};
  options_.tasks_per_family = 2;
  PriorLearningStatus status;
  EXPECT_EQ(Learn(&status), trial::StopReason::kTrials);
  EXPECT_EQ(status.tasks, 4);
}

TEST_F(PriorLearningTest, TunedForAnotherTargetIsNotKnown) {
  Tune({64});
  target_.cores += 1;
  EXPECT_THROW(Learn(), InputError);
}

TEST_F(PriorLearningTest, AMachineThatCannotMeasureIsNotLearntFrom) {
  Tune({64});
  evaluator_.is_broken = true;
  const int64_t before = Given();
  EXPECT_THROW(Learn(), SystemError);
  EXPECT_EQ(Given(), before);
}

}  // namespace
}  // namespace bayloom::pretrain
