// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/internal/at_least_one.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/model_option.h"
#include "bayloom/cli/internal/run_options.h"
#include "bayloom/cli/internal/target_option.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/pool_measurement.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/report/format.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/status_line.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/tuning_subject.h"

namespace bayloom::cli {
namespace {

struct DatasetOptions {
  std::string database;
  std::vector<std::string> networks;
  std::vector<std::string> families;
  int tasks_per_family = 20;
  int64_t programs = 0;
  int64_t measure = 0;
  uint64_t seed = 0;
  bool json = false;
  TargetOption target;
};

void AddNetworks(const DatasetOptions& options, record::Store& store, record::ProgramPool& pool) {
  for (const std::string& path : options.networks) {
    ModelOption model;
    model.path = path;
    const std::string group = std::filesystem::path(path).stem().string();
    for (const tuning::TaskSpec& spec : tuning::SpecsOf(model.Load())) {
      pool.PutIntoGroup(group, store.AddTask(spec.workload), spec.weight);
    }
  }
}

void AddFamilies(const DatasetOptions& options, record::Store& store, record::ProgramPool& pool) {
  for (const std::string& family : options.families) {
    for (const tensor::Workload& workload :
         pretrain::DrawFamily(family, options.tasks_per_family, options.seed)) {
      pool.PutIntoGroup(family, store.AddTask(workload), 1);
    }
  }
}

void SamplePrograms(const DatasetOptions& options, const target::Target& target,
                    record::Store& store, record::ProgramPool& pool) {
  base::ThreadPool threads(options.target.threads);
  const std::vector<record::TaskId> tasks = pretrain::GroupedTasks(pool);
  report::StatusLine progress(stderr);
  int64_t programs = 0;
  for (size_t i = 0; i < tasks.size() && !StopSeen(); ++i) {
    const sketch::SpaceGenerator space(store.WorkloadOf(tasks[i]), target);
    pretrain::AddRecordedPrograms(space, store, pool);
    pretrain::SampleIntoPool(space, tasks[i], pool,
                             {.programs = options.programs, .seed = options.seed}, threads);
    programs += pool.Count(tasks[i]);
    progress.Show(fmt::format("{} of {} tasks sampled, {} programs", i + 1, tasks.size(),
                              report::FormatCount(programs)));
  }
}

void Measure(const DatasetOptions& options, const target::Target& target, record::Store& store,
             record::ProgramPool& pool) {
  measure::Measurer measurer(target, {});
  tuning::MeasureEvaluator evaluator(measurer);
  pretrain::PoolMeasurement measurement(store, pool, target, evaluator, "pool", StopSeen);
  report::RunProgress progress(stderr, {}, report::MeasuringProgress());
  measurement.MeasureEach(options.measure, options.seed, progress.Observer());
}

void PrintSummary(const DatasetOptions& options, const target::Target& target, record::Store& store,
                  record::ProgramPool& pool) {
  report::Table table({"group", "tasks", "programs", "measured"});
  for (const record::PoolGroup& group : pool.Groups()) {
    int64_t programs = 0, measured = 0;
    for (const record::PoolGroup::Member& member : group.members) {
      programs += pool.Count(member.task);
      measured += pretrain::CountMeasured(store, pool, member.task, target);
    }
    const auto tasks = static_cast<int64_t>(group.members.size());
    table.AddRow({group.name,
                  tasks,
                  {programs, report::FormatCount(programs)},
                  {measured, report::FormatCount(measured)}});
  }
  fmt::print("{}\n", options.json ? table.Json().dump(2) : table.Text());
}

void MakeDataset(const DatasetOptions& options) {
  const target::Target target = options.target.Resolve();
  record::Store store(options.database);
  record::ProgramPool pool(options.database);
  base::CatchStopSignals();
  AddNetworks(options, store, pool);
  AddFamilies(options, store, pool);
  if (pretrain::GroupedTasks(pool).empty()) {
    throw InputError(options.database +
                     " has no tasks yet: name networks, such as --networks resnet18.onnx, or "
                     "operator families, such as --families conv2d dense");
  }
  if (options.programs > 0) SamplePrograms(options, target, store, pool);
  if (options.measure > 0 && !StopSeen()) Measure(options, target, store, pool);
  PrintSummary(options, target, store, pool);
  if (StopSeen()) {
    fmt::print(stderr, "stopped; the same command goes on from here\n");
  }
}

}  // namespace

void AddDatasetCommand(CLI::App& app) {
  auto options = std::make_shared<DatasetOptions>();
  CLI::App* dataset =
      app.add_subcommand("dataset", "Collect programs that cost models can be trained on");
  dataset
      ->add_option("database", options->database, "Where programs and trials are kept; may be new")
      ->required();
  dataset->add_option("--networks", options->networks, "Models (ONNX) whose operators are tasks");
  dataset->add_option("--families", options->families, "Operator families to draw tasks from")
      ->check(CLI::IsMember(pretrain::FamilyNames()));
  dataset->add_option("--tasks-per-family", options->tasks_per_family)
      ->check(AtLeastOne())
      ->capture_default_str();
  dataset
      ->add_option("--programs-per-task", options->programs,
                   "Fill every task's pool up to so many programs; half of them random, half "
                   "children of those")
      ->check(AtLeastOne());
  dataset
      ->add_option("--measure", options->measure,
                   "Measure so many programs of every task, drawn at random")
      ->check(AtLeastOne());
  dataset->add_option("--seed", options->seed, "Seed of all choices")->capture_default_str();
  dataset->add_flag("--json", options->json, "Print the summary as JSON");
  options->target.AddTo(*dataset);
  dataset->footer(
      "Programs and measurements are kept as they are made: stop when you like and give the same\n"
      "command again. Programs that 'bayloom tune --db' measured before are taken in, and it "
      "learns\n"
      "from those measured here.\n"
      "\n"
      "Examples:\n"
      "  bayloom dataset pool.db --networks resnet18.onnx --families conv2d dense \\\n"
      "      --programs-per-task 1000\n"
      "  bayloom dataset pool.db --measure 50");
  dataset->callback([options] { MakeDataset(*options); });
}

}  // namespace bayloom::cli
