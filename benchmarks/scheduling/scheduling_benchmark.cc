// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What a scheduler's decision costs. The argument is the number of tasks, each of which has had 10
// slots of 16 trials; as in a session, the task chosen last has new trials.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bayloom/experimental/register.h"
#include "bayloom/scheduling/task_scheduler.h"

namespace bayloom {
namespace {

void AddSlot(scheduling::TaskProgress& task, double difficulty) {
  for (int i = 0; i < 16; ++i) {
    const int steps = task.trials() / 5;  // better programs come now and then
    task.best_after_trial.push_back(1e-3 * (1 + difficulty / (1 + std::sqrt(steps))));
  }
  task.slot_ends.push_back(task.trials());
}

void BM_Next(benchmark::State& state, const std::string& scheduler) {
  experimental::Register();
  std::vector<scheduling::TaskProgress> beginning(state.range(0));
  for (size_t i = 0; i < beginning.size(); ++i) {
    beginning[i].lower_bound = 5e-4;
    beginning[i].work = 1e8;
    for (int slot = 0; slot < 10; ++slot) AddSlot(beginning[i], 1 + static_cast<double>(i % 7));
  }
  const auto chooser =
      scheduling::CreateTaskScheduler(scheduler, {.max_trials = 1 << 30, .trials_per_slot = 16});
  std::vector<scheduling::TaskProgress> tasks = beginning;
  chooser->Next(tasks);  // forecasts of all tasks are made once
  for (auto _ : state) {
    const int chosen = chooser->Next(tasks);
    state.PauseTiming();
    if (tasks[chosen].slots() > 20) tasks[chosen] = beginning[chosen];
    AddSlot(tasks[chosen], 1 + chosen % 7);
    state.ResumeTiming();
  }
}

#define TASKS ->Arg(10)->Arg(30)->Unit(benchmark::kMicrosecond)
BENCHMARK_CAPTURE(BM_Next, dynatune, "dynatune") TASKS;
BENCHMARK_CAPTURE(BM_Next, softmax, "softmax") TASKS;
BENCHMARK_CAPTURE(BM_Next, gradient, "gradient") TASKS;
BENCHMARK_CAPTURE(BM_Next, round_robin, "round-robin") TASKS;

}  // namespace
}  // namespace bayloom
