// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The machine model and the weights of the time estimate: measures the machine, records random
// schedules on it, and fits the weights to such records.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/codegen/host.h"
#include "bayloom/feature/code_estimate.h"
#include "bayloom/measure/measure_machine.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/measure/trial_rate.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/target/target_json.h"
#include "benchmarks/calibration/fit.h"
#include "benchmarks/must.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct Options {
  int threads = 0;
  int repeat = 1;
  int tasks = 4, schedules = 32;
  uint64_t seed = 1;
  std::string file;
};

void PrintMachine(const Options& options) {
  const target::Target target = codegen::HostTarget(options.threads);
  for (int i = 0; i < options.repeat; ++i) {
    const double start = base::MonotonicSeconds();
    const target::MachineModel machine = Must(measure::MeasureMachine(target)).model;
    nlohmann::json json = target::MachineModelToJson(machine);
    json["measuring"] = base::MonotonicSeconds() - start;
    json["gflops"] = machine.PeakFlops() / 1e9;
    for (const target::MemoryLevel& level : machine.levels) {
      json["gbytes"].push_back(machine.BytesPerSecond(level) / 1e9);
    }
    json["trials"] = measure::TrialsPerSecond(machine, target.cores);
    fmt::print("{}\n", json.dump());
  }
}

/// Random schedules of one workload, measured.
void RecordTask(const std::string& family, const tensor::Workload& workload, const Options& options,
                measure::Measurer& measurer, std::ofstream& file) {
  const sketch::SpaceGenerator generator(workload, measurer.target());
  file << TaskLine(family, generator).dump() << "\n";
  base::RandomStream random(options.seed);
  std::vector<sketch::Candidate> candidates;
  for (int draw = 0; draw < 20 * options.schedules; ++draw) {
    if (std::ssize(candidates) == options.schedules) break;
    const auto space =
        static_cast<int>(random.UniformInt(static_cast<int64_t>(generator.spaces().size())));
    Result<sketch::Candidate> candidate = generator.Sample(space, random.Fork());
    if (candidate) candidates.push_back(*std::move(candidate));
  }
  std::vector<const tensor::Program*> programs;
  for (const sketch::Candidate& candidate : candidates) programs.push_back(&candidate.program);
  const std::vector<trial::Outcome> outcomes = measurer.Measure(workload, programs);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].ok()) file << ScheduleLine(candidates[i], outcomes[i].value).dump() << "\n";
  }
}

void Record(const Options& options) {
  target::Target target = codegen::HostTarget(options.threads);
  target.machine = Must(measure::MeasureMachine(target)).model;
  std::ofstream file(options.file);
  file << nlohmann::json{{"target", target::TargetToJson(target)}}.dump() << "\n";
  measure::MeasureOptions measure;
  measure.cut_factor = 0;
  measure::Measurer measurer(target, measure);
  for (const std::string& family : pretrain::FamilyNames()) {
    for (const tensor::Workload& workload :
         pretrain::DrawFamily(family, options.tasks, options.seed)) {
      fmt::print("{}: {}\n", family, workload.name);
      RecordTask(family, workload, options, measurer, file);
    }
  }
  if (!file.flush()) throw InputError("cannot write '" + options.file + "'");
}

void PrintCorrelations(const char* title, const RankCorrelations& correlations) {
  fmt::print("{:<16}", title);
  for (const auto& [family, correlation] : correlations.families) {
    fmt::print("{:>15.3f}", correlation);
  }
  fmt::print("{:>9.3f}\n", correlations.mean);
}

/// Every other task's schedules.
ScheduleRecords Half(const ScheduleRecords& records, size_t half) {
  ScheduleRecords part;
  part.target = records.target;
  for (size_t i = half; i < records.tasks.size(); i += 2) part.tasks.push_back(records.tasks[i]);
  return part;
}

void Fit(const Options& options) {
  const ScheduleRecords records = ScheduleRecords::Read(options.file);
  const target::MachineModel machine = target::MachineOf(records.target);
  target::Target unmeasured = records.target;
  unmeasured.machine.reset();
  const RankCorrelations nominal = CorrelationsOf(records, target::NominalMachine(unmeasured), {});
  fmt::print("{:<16}", "");
  for (const auto& [family, unused] : nominal.families) fmt::print("{:>15}", family);
  fmt::print("{:>9}\n", "mean");
  PrintCorrelations("nominal machine", nominal);
  PrintCorrelations("measured machine", CorrelationsOf(records, machine, {}));
  PrintCorrelations("estimate of code",
                    CorrelationsOf(records, [&](const tensor::Program& program) {
                      return feature::EstimateCodeTime(program, records.target);
                    }));
  const feature::EstimateWeights weights = FitWeights(records, {});
  PrintCorrelations("fitted weights", CorrelationsOf(records, machine, weights));
  for (size_t half : {0, 1}) {
    const feature::EstimateWeights of_others = FitWeights(Half(records, 1 - half), {});
    PrintCorrelations(half == 0 ? "half, unseen" : "other half",
                      CorrelationsOf(Half(records, half), machine, of_others));
  }
  fmt::print(
      "operation {}, long vector {}, second level {}, further level {}, memory {}, "
      "fork-join {}, job {}\n",
      weights.operation, weights.long_vector, weights.second_level, weights.further_level,
      weights.memory, weights.fork_join, weights.job);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  using namespace bayloom;
  if (std::optional<int> code = measure::RunAsRunner(argc, argv)) return *code;
  CLI::App app("Measures this machine and fits the time estimate to it", "bayloom-calibrate");
  app.require_subcommand(1);
  Options options;
  std::function<void()> run;
  const auto add_threads = [&](CLI::App* command) {
    command->add_option("--threads", options.threads, "Threads; 0 for all processors");
  };
  CLI::App* machine = app.add_subcommand("machine", "Print the machine model, as JSON");
  add_threads(machine);
  machine->add_option("--repeat", options.repeat, "Measure so many times");
  machine->callback([&] { run = [&] { PrintMachine(options); }; });
  CLI::App* record = app.add_subcommand("record", "Measure random schedules of operator families");
  add_threads(record);
  record->add_option("file", options.file, "JSON lines to write")->required();
  record->add_option("--tasks", options.tasks, "Workloads of each family");
  record->add_option("--schedules", options.schedules, "Schedules of each workload");
  record->add_option("--seed", options.seed, "Of workloads and schedules");
  record->callback([&] { run = [&] { Record(options); }; });
  CLI::App* fit = app.add_subcommand("fit", "Fit the weights of the time estimate to records");
  fit->add_option("file", options.file, "What 'record' wrote")->required();
  fit->callback([&] { run = [&] { Fit(options); }; });
  return RunTool(app, argc, argv, [&] { run(); });
}
