// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Pools of programs for GPUs that studies replay: reduced design spaces of which every program is
// measured, as databases of 'bayloom pretrain' and as recorded spaces.

#include <fmt/core.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/codegen/host.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/pretrain/operator_families.h"
#include "bayloom/pretrain/pool_filling.h"
#include "bayloom/pretrain/pool_measurement.h"
#include "benchmarks/gpu/estimated_evaluator.h"
#include "benchmarks/gpu/reduced_space.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 128;
constexpr char kEstimated[] = "estimated, not measured";

struct Arguments {
  std::string database;
  std::vector<std::string> shapes = {"matmul:512,512,512", "matmul:256,256,256",
                                     "matmul:196,96,576"};
  std::string target = "cuda:sm_90";
  std::string out;
  bool estimate = false;
  bool families = false;
  pretrain::PoolOptions pool;
};

/// Adds the valid programs that the pool does not have yet.
void Fill(const Arguments& arguments, record::Store& store, record::ProgramPool& pool,
          const target::Target& target) {
  for (const std::string& shape : arguments.shapes) {
    const ReducedSpace space(shape, target);
    const record::TaskId task = store.AddTask(space.generator().workload());
    pool.PutIntoGroup("reduced " + shape, task, 1);
    std::unordered_map<uint64_t, bool> known;
    pool.Visit(task, record::ProgramPool::Part::kPrograms,
               [&](int64_t, std::span<const record::PoolProgram> programs) {
                 for (const record::PoolProgram& program : programs) known[program.hash] = true;
               });
    const std::vector<ReducedConfiguration> all = space.Configurations();
    std::vector<record::PoolProgram> chunk;
    int64_t valid = 0;
    for (const ReducedConfiguration& configuration : all) {
      if (base::StopRequested()) throw InputError("stopped; the same command continues");
      const Result<sketch::Candidate> made = space.Make(configuration);
      if (!made) continue;
      ++valid;
      if (!known.emplace(made->hash, true).second) continue;
      chunk.push_back({made->hash, made->space, "exhaustive", made->trace.ToJson().dump(),
                       feature::ExtractFeatures(made->program)});
      if (chunk.size() < kChunk) continue;
      pool.Add(task, chunk);
      chunk.clear();
    }
    if (!chunk.empty()) pool.Add(task, chunk);
    fmt::print("{}: {} configurations, {} valid ({:.1f} %), {} programs\n", shape, all.size(),
               valid, 100.0 * static_cast<double>(valid) / static_cast<double>(all.size()),
               pool.Count(task));
  }
}

/// Takes the times of everything in the pool from the estimate.
void Estimate(record::Store& store, record::ProgramPool& pool, const target::Target& target) {
  EstimatedEvaluator evaluator(target);
  pretrain::PoolMeasurement measurement(store, pool, target, evaluator, kEstimated,
                                        base::StopRequested);
  int64_t count = 0;
  for (const record::TaskId task : pretrain::GroupedTasks(pool)) {
    const auto measured = pretrain::MeasuredPrograms(store, pool, task, target);
    std::vector<int64_t> places;
    for (int64_t place = 0; place < pool.Count(task); ++place) {
      if (!measured.contains(place)) places.push_back(place);
    }
    count += std::ssize(measurement.Measure(task, places));
  }
  measurement.Finish();
  fmt::print("{} programs {}\n", count, kEstimated);
}

void WriteGzipped(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb9");
  const bool written =
      file != nullptr && gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0;
  if (file == nullptr || gzclose(file) != Z_OK || !written) {
    throw InputError(path + ": cannot write");
  }
}

nlohmann::json RecordOf(const ReducedConfiguration& configuration, const trial::Outcome& outcome) {
  nlohmann::json record = {{"configuration", ReducedSpace::ToJson(configuration)},
                           {"objectives", {"milliseconds"}}};
  record["invalidity"] = outcome.ok() ? "correct" : "compile";
  record["measurements"] = nlohmann::json::array();
  if (outcome.ok()) {
    record["measurements"].push_back(
        {{"name", "milliseconds"}, {"value", 1e3 * outcome.value}, {"unit", "ms"}});
  }
  record["times"] = {{"compilation", 1e3 * outcome.Get("build_seconds", 0)},
                     {"framework", 1e3 * outcome.Get("measure_seconds", 0)}};
  return record;
}

/// Writes OUT/SHAPE-known and OUT/SHAPE-unknown: T1.json, and what was recorded beside it.
void Export(const Arguments& arguments, record::Store& store, const target::Target& target) {
  const std::optional<record::TargetId> target_id = store.FindTarget(target);
  if (!target_id) throw InputError("nothing was measured on " + target.name);
  for (const std::string& shape : arguments.shapes) {
    const ReducedSpace space(shape, target);
    const std::optional<record::TaskId> task =
        store.FindTask(space.generator().workload().StructuralHash());
    std::unordered_map<uint64_t, trial::Outcome> outcomes;
    bool estimated = false;
    if (task) {
      for (const record::StoredTrial& trial : store.TrialsOf(*task, *target_id)) {
        outcomes.emplace(trial.key, trial.outcome);
        estimated |= trial.outcome.Get("estimated", 0) != 0;
      }
    }
    nlohmann::json all = nlohmann::json::array(), valid = nlohmann::json::array();
    int64_t missing = 0;
    for (const ReducedConfiguration& configuration : space.Configurations()) {
      const Result<sketch::Candidate> made = space.Make(configuration);
      if (!made) {
        all.push_back(RecordOf(configuration,
                               trial::Outcome::Infeasible(trial::Verdict::kBuildError, "a limit")));
        continue;
      }
      const auto outcome = outcomes.find(made->hash);
      if (outcome == outcomes.end()) {
        ++missing;
        continue;
      }
      valid.push_back(RecordOf(configuration, outcome->second));
      all.push_back(valid.back());
    }
    if (missing > 0) {
      throw InputError(fmt::format("{}: {} programs of {} are not measured yet", shape, missing,
                                   missing + std::ssize(valid)));
    }
    std::string name = shape.substr(shape.find(':') + 1);
    std::replace(name.begin(), name.end(), ',', 'x');
    for (const bool known : {true, false}) {
      const fs::path folder = fs::path(arguments.out) / (name + (known ? "-known" : "-unknown"));
      fs::create_directories(folder);
      base::WriteFile(folder / "T1.json", space.Scenario(known).dump(1));
      const nlohmann::json metadata = {{"timeunit", "milliseconds"},
                                       {"device", target.name},
                                       {"times", estimated ? kEstimated : "measured"}};
      const std::string device = (estimated ? "estimated-" : "") + target.cpu;
      WriteGzipped(folder / (device + "_T4.json.gz"),
                   nlohmann::json{{"metadata", metadata}, {"results", known ? valid : all}}.dump());
    }
    fmt::print("{}: {} configurations, {} valid; times are {}\n", shape, all.size(), valid.size(),
               estimated ? kEstimated : "measured");
  }
}

void Run(const Arguments& arguments) {
  const target::Target target = codegen::TargetNamed(arguments.target);
  record::Store store(arguments.database);
  record::ProgramPool pool(arguments.database);
  if (!arguments.out.empty()) return Export(arguments, store, target);
  if (!arguments.shapes.empty()) Fill(arguments, store, pool, target);
  if (arguments.families) {
    pretrain::PoolOptions options = arguments.pool;
    options.families = pretrain::FamilyNames();
    pretrain::FillPool(store, pool, target, options, base::StopRequested);
  }
  if (arguments.estimate) Estimate(store, pool, target);
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::Arguments arguments;
  CLI::App app(
      "Fills the pool of a database with all programs of reduced design spaces of products on a "
      "GPU, to be measured by 'bayloom pretrain --from-pool --share 1 --target cuda --db FILE', "
      "and writes what was measured as recorded spaces for bayloom-simulate: NAME-known, whose "
      "configurations keep the limits of the GPU, and NAME-unknown, which has those that do not "
      "as well.",
      "bayloom-gpu-records");
  app.add_option("database", arguments.database)->required();
  app.add_option("--spaces", arguments.shapes, "Products, as bayloom tune --op; '' for none")
      ->delimiter(' ')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--target", arguments.target, "As of bayloom tune")->capture_default_str();
  CLI::Option* out = app.add_option("--export", arguments.out, "Write recorded spaces to a folder");
  app.add_flag("--families", arguments.families, "Sample the operators of bayloom pretrain, too");
  app.add_option("--tasks-per-family", arguments.pool.tasks_per_family)->capture_default_str();
  app.add_option("--programs-per-task", arguments.pool.programs_per_task)->capture_default_str();
  app.add_flag("--estimate", arguments.estimate,
               "Take all times from the estimate, as of an imaginary device: no measurement")
      ->excludes(out);
  bayloom::base::CatchStopSignals();
  return bayloom::RunTool(app, argc, argv, [&] {
    std::erase(arguments.shapes, "");
    bayloom::Run(arguments);
  });
}
