// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How good the programs are that are chosen before any trial: the order in which the time estimate
// puts recorded programs, and the times of the chosen, the plain and the best recorded program.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bayloom/base/clock.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/codegen/host.h"
#include "bayloom/cost/metrics.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/tuning/measured_target.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tuning_subject.h"
#include "bayloom/tuning/zero_trial_program.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct Options {
  std::vector<std::string> models, ops;
  std::string database = "zero-trials.db";
  int threads = 1;
  int population = tuning::ZeroTrialOptions().population;
  int generations = tuning::ZeroTrialOptions().generations;
  bool measure = false;
  bool print = false;
};

/// A task's recorded programs.
struct Records {
  std::vector<double> estimates, simple, seconds;
};

Records RecordsOf(record::Store& store, const sketch::SpaceGenerator& space) {
  Records records;
  const auto task = store.FindTask(space.workload().StructuralHash());
  const auto target = store.FindTarget(space.target());
  if (!task || !target) return records;
  const target::MachineModel machine = target::MachineOf(space.target());
  for (const record::StoredTrial& trial : store.TrialsOf(*task, *target)) {
    if (!trial.outcome.ok()) continue;
    const Result<sketch::Candidate> candidate = tuning::RestoreCandidate(space, trial);
    if (!candidate) continue;
    records.estimates.push_back(feature::EstimateCodeTime(candidate->program, space.target()));
    records.simple.push_back(feature::EstimateTime(candidate->program, machine));
    records.seconds.push_back(trial.outcome.value);
  }
  return records;
}

double Measured(measure::Measurer& measurer, const sketch::SpaceGenerator& space,
                const tensor::Program& program) {
  const tensor::Program* const programs[] = {&program};
  const trial::Outcome outcome = measurer.Measure(space.workload(), programs).front();
  if (!outcome.ok()) fmt::print("  failed: {}\n", outcome.reason);
  return outcome.ok() ? outcome.value : std::numeric_limits<double>::quiet_NaN();
}

void Study(const Options& options) {
  std::vector<tuning::TaskSpec> specs;
  for (const std::string& path : options.models) {
    graph::Graph graph = graph::ImportOnnx(path, {});
    graph::Optimize(graph);
    const graph::TaskGraph network = graph::ExtractTasks(std::move(graph));
    std::ranges::move(tuning::SpecsOf(network), std::back_inserter(specs));
  }
  for (const std::string& op : options.ops) {
    std::ranges::move(tuning::OperatorSubject(op).specs, std::back_inserter(specs));
  }
  record::Store store(options.database);
  tuning::UserStore no_store(std::nullopt, tuning::UserStore::Mode::kRead, {});
  const target::Target target = tuning::MeasuredTarget(
      store, no_store, codegen::HostTarget(options.threads),
      {[] {}, [](const std::string& warning) { fmt::print(stderr, "{}\n", warning); }});
  measure::MeasureOptions measuring;
  measuring.cut_factor = 0;
  measure::Measurer measurer(target, measuring);
  base::ThreadPool pool;
  fmt::print("{:<44}{:>5}{:>7}{:>7}{:>7}{:>7}{:>9}{:>10}{:>10}{:>10}{:>10}{:>8}{:>8}\n", "task",
             "n", "rank", "top-1", "rank'", "top-1'", "best ms", "estimate", "chosen", "estimate",
             "plain", "ratio", "choice s");
  for (const tuning::TaskSpec& spec : specs) {
    const sketch::SpaceGenerator space(spec.workload, target);
    const Records records = RecordsOf(store, space);
    double best = NAN, best_estimate = NAN, top = NAN, rank = NAN, simple_top = NAN,
           simple_rank = NAN;
    if (!records.seconds.empty()) {
      best = *std::ranges::min_element(records.seconds);
      best_estimate =
          records.estimates[std::ranges::min_element(records.seconds) - records.seconds.begin()];
      const auto top_of = [&](const std::vector<double>& estimates) {
        return best / records.seconds[std::ranges::min_element(estimates) - estimates.begin()];
      };
      top = top_of(records.estimates);
      simple_top = top_of(records.simple);
      rank = cost::SpearmanCorrelation(records.estimates, records.seconds);
      simple_rank = cost::SpearmanCorrelation(records.simple, records.seconds);
    }
    const double start = base::MonotonicSeconds();
    const sketch::Candidate chosen = tuning::FastestByEstimate(
        space, {}, {.population = options.population, .generations = options.generations}, pool);
    const double seconds = base::MonotonicSeconds() - start;
    const double estimate = feature::EstimateCodeTime(chosen.program, target);
    const sketch::Candidate plain = tuning::DefaultCandidate(space);
    double chosen_time = NAN, plain_time = NAN;
    if (options.measure) {
      chosen_time = Measured(measurer, space, chosen.program);
      plain_time = Measured(measurer, space, plain.program);
    }
    fmt::print(
        "{:<44}{:>5}{:>7.2f}{:>7.2f}{:>7.2f}{:>7.2f}{:>9.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>"
        "8.2f}{:>8.2f}\n",
        spec.name.substr(0, 43), records.seconds.size(), rank, top, simple_rank, simple_top,
        1e3 * best, 1e3 * best_estimate, 1e3 * chosen_time, 1e3 * estimate, 1e3 * plain_time,
        best / chosen_time, seconds);
    if (options.print) fmt::print("{}\n", tensor::Print(chosen.program));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  using namespace bayloom;
  if (std::optional<int> code = measure::RunAsRunner(argc, argv)) return *code;
  CLI::App app("How good programs are before any trial", "bayloom-zero-trials");
  Options options;
  app.add_option("model", options.models, "ONNX files");
  app.add_option("--op", options.ops, "Operators, such as matmul:512,512,512");
  app.add_option("--db", options.database, "Database of 'bayloom tune' to compare with");
  app.add_option("--threads", options.threads, "Threads");
  app.add_option("--population", options.population, "Programs of a generation");
  app.add_option("--generations", options.generations, "Generations");
  app.add_flag("--measure", options.measure, "Time the chosen and the default programs");
  app.add_flag("--print", options.print, "Print the chosen programs");
  return RunTool(app, argc, argv, [&] { Study(options); });
}
