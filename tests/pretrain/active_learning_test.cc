// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/active_learning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/experimental/register.h"
#include "bayloom/pretrain/evaluation.h"
#include "bayloom/record/store.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

/// A pool of made-up programs whose time follows from two features.
class MadeUpPool {
 public:
  static constexpr int kTasks = 4, kPrograms = 120;

  MadeUpPool() : store_(folder_ / "a.db"), pool(folder_ / "a.db") {
    base::RandomStream random(7);
    for (int t = 0; t < kTasks; ++t) {
      const record::TaskId task = store_.AddTask(record::Matmul(4, 8, 16 + t));
      pool.PutIntoGroup(t < 2 ? "a" : "b", task, 1 + t);
      std::vector<record::PoolProgram> programs;
      for (int i = 0; i < kPrograms; ++i) {
        record::PoolProgram program{
            .hash = static_cast<uint64_t>(i), .origin = "random", .trace = {}, .features = {}};
        program.features.rows = 1;
        program.features.values.assign(feature::kFeatureColumns, 0);
        const double x = 6 * random.Uniform(), y = random.Uniform();
        program.features.values[3] = static_cast<float>(x);
        program.features.values[60] = static_cast<float>(y);
        labels[task][i] = i % 20 == 19 ? std::nullopt : Label((t + 1) * std::exp(x + y));
        programs.push_back(std::move(program));
      }
      pool.Add(task, programs);
    }
  }

  void AddTasksTo(ActiveLearning& learning) const {
    for (const auto& [task, programs] : labels) {
      std::vector<int64_t> open(kPrograms);
      std::iota(open.begin(), open.end(), int64_t{0});
      learning.AddTask(task, open, {});
    }
  }
  /// Answers from the labels, and counts what was asked.
  ActiveLearning::Labeller Labeller() {
    return [this](record::TaskId task, std::span<const int64_t> places) {
      std::map<int64_t, Label> answer;
      for (const int64_t place : places) {
        EXPECT_TRUE(asked.emplace(task, place).second) << "a program was measured twice";
        answer[place] = labels.at(task).at(place);
      }
      return answer;
    };
  }

 private:
  TemporaryFolder folder_;
  record::Store store_;

 public:
  record::ProgramPool pool;
  std::map<record::TaskId, std::map<int64_t, Label>> labels;
  std::set<std::pair<record::TaskId, int64_t>> asked;
};

TEST(ActiveLearning, EveryMethodKeepsTheBudgetAndLearns) {
  experimental::Register();
  for (const std::string& method : cost::SelectionMethods().AllNames()) {
    MadeUpPool made_up;
    ActiveLearning learning(made_up.pool, {.selection = method, .budget = 110, .rounds = 5});
    made_up.AddTasksTo(learning);
    std::vector<int64_t> measured;
    learning.Run(made_up.Labeller(), [&](const ActiveLearning::Round& round) {
      EXPECT_EQ(round.number, static_cast<int>(measured.size()) + 1);
      EXPECT_EQ(round.labels.size(), 22u) << method;
      measured.push_back(round.measured);
    });
    learning.Finish();
    EXPECT_EQ(measured, (std::vector<int64_t>{22, 44, 66, 88, 110})) << method;
    EXPECT_EQ(made_up.asked.size(), 110u);
    const ModelEvaluation evaluation =
        EvaluateModel(learning.model(), made_up.pool, made_up.pool.Groups(), made_up.labels);
    EXPECT_EQ(evaluation.tasks, MadeUpPool::kTasks);
    EXPECT_EQ(evaluation.programs, MadeUpPool::kTasks * MadeUpPool::kPrograms);
    EXPECT_GT(evaluation.pairwise_accuracy, 0.7) << method;
    EXPECT_LE(evaluation.top1, evaluation.top5);
    EXPECT_LE(evaluation.top5, 1);
    EXPECT_LT(evaluation.rmse, 0.3) << method;
  }
}

TEST(ActiveLearning, TasksGiveTheSamePartOfTheirPrograms) {
  MadeUpPool made_up;
  ActiveLearning learning(made_up.pool, {.budget = 45, .rounds = 1});
  int64_t programs = 120;
  std::map<record::TaskId, int64_t> open;
  for (const auto& [task, labels] : made_up.labels) {
    open[task] = programs;
    std::vector<int64_t> places(programs);
    std::iota(places.begin(), places.end(), int64_t{0});
    learning.AddTask(task, places, {});
    programs /= 2;
  }
  learning.Run(made_up.Labeller());
  std::map<record::TaskId, int64_t> asked;
  for (const auto& [task, place] : made_up.asked) ++asked[task];
  EXPECT_EQ(learning.measured(), 45);  // of 120 + 60 + 30 + 15
  for (const auto& [task, count] : open) {
    EXPECT_NEAR(static_cast<double>(asked[task]), 0.2 * static_cast<double>(count), 1) << task;
  }
}

TEST(ActiveLearning, BiasFindsMoreFastProgramsThanChance) {
  const auto mean_label = [](const std::string& method) {
    MadeUpPool made_up;
    ActiveLearning learning(made_up.pool, {.selection = method, .budget = 160, .rounds = 8});
    made_up.AddTasksTo(learning);
    double sum = 0;
    int count = 0;
    learning.Run(made_up.Labeller(), [&](const ActiveLearning::Round& round) {
      sum += std::accumulate(round.labels.begin(), round.labels.end(), 0.0);
      count += static_cast<int>(round.labels.size());
    });
    return sum / count;
  };
  EXPECT_GT(mean_label("biased-diversity"), 1.3 * mean_label("random"));
}

TEST(ActiveLearning, TheSameSeedChoosesTheSamePrograms) {
  std::set<std::pair<record::TaskId, int64_t>> first;
  for (int run = 0; run < 2; ++run) {
    MadeUpPool made_up;
    ActiveLearning learning(made_up.pool, {.budget = 60, .rounds = 3, .seed = 5});
    made_up.AddTasksTo(learning);
    learning.Run(made_up.Labeller());
    if (run == 0) first = made_up.asked;
    EXPECT_EQ(made_up.asked, first);
  }
}

TEST(ActiveLearning, GoesOnFromWhatIsMeasuredAndMeasuresAllThereIs) {
  MadeUpPool made_up;
  ActiveLearning learning(made_up.pool, {.budget = 100000, .rounds = 2});
  const auto& [task, labels] = *made_up.labels.begin();
  learning.AddTask(task, {0, 1, 2, 3, 4}, {{0, labels.at(0)}, {1, labels.at(1)}});
  EXPECT_EQ(learning.measured(), 2);
  learning.Run(made_up.Labeller());
  EXPECT_EQ(learning.measured(), 5);
  EXPECT_EQ(made_up.asked.size(), 3u);
}

TEST(ActiveLearning, WithoutAMeasurementThereIsNothingToLearn) {
  MadeUpPool made_up;
  ActiveLearning learning(made_up.pool, {.budget = 10});
  learning.Run(made_up.Labeller());
  EXPECT_THROW(learning.Finish(), InputError);
}

}  // namespace
}  // namespace bayloom::pretrain
