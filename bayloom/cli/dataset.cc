#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/at_least_one.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/model_option.h"
#include "bayloom/cli/run_options.h"
#include "bayloom/cli/target_option.h"
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

namespace bayloom {
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

void AddNetworks(const DatasetOptions& options, Store& store, ProgramPool& pool) {
  for (const std::string& path : options.networks) {
    ModelOption model;
    model.path = path;
    const std::string group = std::filesystem::path(path).stem().string();
    for (const TaskSpec& spec : SpecsOf(model.Load())) {
      pool.PutIntoGroup(group, store.AddTask(spec.workload), spec.weight);
    }
  }
}

void AddFamilies(const DatasetOptions& options, Store& store, ProgramPool& pool) {
  for (const std::string& family : options.families) {
    for (const Workload& workload : DrawFamily(family, options.tasks_per_family, options.seed)) {
      pool.PutIntoGroup(family, store.AddTask(workload), 1);
    }
  }
}

void SamplePrograms(const DatasetOptions& options, const Target& target, Store& store,
                    ProgramPool& pool) {
  ThreadPool threads(options.target.threads);
  const std::vector<TaskId> tasks = GroupedTasks(pool);
  StatusLine progress(stderr);
  int64_t programs = 0;
  for (size_t i = 0; i < tasks.size() && !StopSeen(); ++i) {
    const SpaceGenerator space(store.WorkloadOf(tasks[i]), target);
    AddRecordedPrograms(space, store, pool);
    SampleIntoPool(space, tasks[i], pool, {.programs = options.programs, .seed = options.seed},
                   threads);
    programs += pool.Count(tasks[i]);
    progress.Show(fmt::format("{} of {} tasks sampled, {} programs", i + 1, tasks.size(),
                              FormatCount(programs)));
  }
}

void Measure(const DatasetOptions& options, const Target& target, Store& store, ProgramPool& pool) {
  Measurer measurer(target, {});
  MeasureEvaluator evaluator(measurer);
  PoolMeasurement measurement(store, pool, target, evaluator, "pool", StopSeen);
  RunProgress progress(stderr, {}, MeasuringProgress());
  measurement.MeasureEach(options.measure, options.seed, progress.Observer());
}

void PrintSummary(const DatasetOptions& options, const Target& target, Store& store,
                  ProgramPool& pool) {
  Table table({"group", "tasks", "programs", "measured"});
  for (const PoolGroup& group : pool.Groups()) {
    int64_t programs = 0, measured = 0;
    for (const PoolGroup::Member& member : group.members) {
      programs += pool.Count(member.task);
      measured += CountMeasured(store, pool, member.task, target);
    }
    const auto tasks = static_cast<int64_t>(group.members.size());
    table.AddRow(
        {group.name, tasks, {programs, FormatCount(programs)}, {measured, FormatCount(measured)}});
  }
  fmt::print("{}\n", options.json ? table.Json().dump(2) : table.Text());
}

void MakeDataset(const DatasetOptions& options) {
  const Target target = options.target.Resolve();
  Store store(options.database);
  ProgramPool pool(options.database);
  CatchStopSignals();
  AddNetworks(options, store, pool);
  AddFamilies(options, store, pool);
  if (GroupedTasks(pool).empty()) {
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
      ->check(CLI::IsMember(FamilyNames()));
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

}  // namespace bayloom
