// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How many evaluations a search needs on a device after searches of the same kernel on others, and
// after earlier searches that teach it something wrong: replayed from completely recorded spaces.

#include "bayloom/optimizer/transfer.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "benchmarks/run_tool.h"
#include "benchmarks/simulate/simulation.h"

namespace bayloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kShares[] = {0.10, 0.05, 0.01};
constexpr int kBeginnings = 5;

struct TransferBenchmark {
  std::vector<std::string> records, unrelated, targets;
  std::vector<std::string> sources = {"none", "others", "shuffled", "reversed"};
  std::vector<std::string> methods = {"prior"};
  int others = 4;
  int tried = 0;  ///< 0: everything
  int seeds = 20;
  uint64_t first_seed = 1;
  int trials = 200;
  double until = 0.01;
  int threads = 1;
  std::string json_path;
};

/// What a search of so many trials, or the complete recording, knows of a space.
optimizer::EarlierTask Earlier(const RecordedTask& recorded, int tried, uint64_t seed) {
  optimizer::EarlierTask task;
  task.name = recorded.name;
  task.space = recorded.space;
  const auto add = [&](const space::Configuration& c, const trial::Outcome& outcome) {
    if (outcome.ok()) {
      task.configurations.push_back(c);
      task.values.push_back(outcome.value);
    } else {
      task.failures.push_back(c);
    }
  };
  if (tried == 0) {
    recorded.space->ForEach([&](const space::Configuration& c) {
      add(c, recorded.outcomes.at(c));
      return true;
    });
    return task;
  }
  const auto search = optimizer::MakeOptimizer("bayesian", recorded.space, {.seed = seed});
  for (int i = 0; i < tried; ++i) {
    for (const space::Configuration& c : search->Ask(1)) {
      const trial::Outcome& outcome = recorded.outcomes.at(c);
      add(c, outcome);
      search->Tell(c, outcome);
    }
  }
  return task;
}

void Distort(const std::string& how, uint64_t seed, optimizer::EarlierTask& task) {
  base::RandomStream random(seed + 1'000'000);
  if (how == "shuffled") random.Shuffle(task.values);
  if (how == "reversed") {
    for (double& value : task.values) value = -value;
  }
}

class Benchmark {
 public:
  explicit Benchmark(const TransferBenchmark& options) : options_(options), pool_(options.threads) {
    for (const std::string& path : options.records) Load(path);
    for (const std::string& path : options.unrelated) Load(path);
    if (!options.json_path.empty() && fs::exists(options.json_path)) {
      std::ifstream file(options.json_path);
      rows_ = json::parse(file, nullptr, false);
      if (!rows_.is_array()) throw InputError(options.json_path + ": no results to continue");
    }
  }

  void Run() {
    fmt::print("{:<26}{:<12}{:<14}{:<20}{:<20}{}\n", "target", "sources", "method", "within 10 %",
               "within 5 %", "within 1 %");
    for (const std::string& target : options_.records) {
      if (!IsWanted(target)) continue;
      for (const std::string& sources : options_.sources) {
        for (const std::string& method : options_.methods) {
          if (sources == "none" && method != options_.methods.front()) continue;
          Print(RowOf(target, sources, sources == "none" ? "" : method));
        }
      }
    }
  }

 private:
  void Load(const std::string& path) {
    if (!tasks_.contains(path)) tasks_.emplace(path, LoadRecordedTask(path));
  }

  bool IsWanted(const std::string& target) const {
    const std::string& name = tasks_.at(target).name;
    return options_.targets.empty() ||
           std::ranges::any_of(options_.targets, [&](const std::string& part) {
             return name.find(part) != std::string::npos;
           });
  }

  /// The records of the same kernel that follow the target's in the order given, round about; or
  /// those of the unrelated one.
  std::vector<std::string> SourcesOf(const std::string& target, const std::string& sources) const {
    if (sources == "none") return {};
    if (sources == "unrelated") return options_.unrelated;
    std::vector<std::string> same;
    for (const std::string& path : options_.records) {
      if (fs::path(path).parent_path() == fs::path(target).parent_path()) same.push_back(path);
    }
    std::ranges::rotate(same, std::ranges::find(same, target));
    same.erase(same.begin());
    if (std::ssize(same) > options_.others) same.resize(static_cast<size_t>(options_.others));
    return same;
  }

  /// Searches of the sources are the same for all targets.
  const optimizer::EarlierTask& EarlierOf(const std::string& path, uint64_t seed) {
    return earlier_.at({path, options_.tried == 0 ? 0 : seed});
  }

  void PrepareEarlier(const std::vector<std::string>& paths) {
    std::vector<std::pair<std::string, uint64_t>> keys;
    for (const std::string& path : paths) {
      for (int i = 0; i < (options_.tried == 0 ? 1 : options_.seeds); ++i) {
        std::pair<std::string, uint64_t> key{
            path, options_.tried == 0 ? 0 : options_.first_seed + static_cast<uint64_t>(i)};
        if (!earlier_.contains(key)) keys.push_back(std::move(key));
      }
    }
    std::vector<optimizer::EarlierTask> made(keys.size());
    pool_.ParallelFor(std::ssize(keys), [&](int64_t i) {
      const auto& [path, seed] = keys[static_cast<size_t>(i)];
      made[static_cast<size_t>(i)] = Earlier(tasks_.at(path), options_.tried, seed);
    });
    for (size_t i = 0; i < keys.size(); ++i) earlier_.emplace(keys[i], std::move(made[i]));
  }

  json RowOf(const std::string& target, const std::string& sources, const std::string& method) {
    const RecordedTask& task = tasks_.at(target);
    const std::vector<std::string> paths = SourcesOf(target, sources);
    std::vector<std::string> names;
    for (const std::string& path : paths) names.push_back(tasks_.at(path).name);
    json row = {{"space", task.name},
                {"sources", sources},
                {"source_spaces", names},
                {"source_trials", sources == "none" ? 0 : options_.tried},
                {"method", method},
                {"optimum", task.optimum},
                {"max_trials", options_.trials},
                {"until", options_.until},
                {"first_seed", options_.first_seed},
                {"seeds", options_.seeds},
                {"shares", kShares}};
    for (const json& known : rows_) {
      const bool is_same = std::ranges::all_of(row.items(), [&](const auto& item) {
        return known.value(item.key(), json()) == item.value();
      });
      if (is_same) return known;
    }
    PrepareEarlier(paths);
    std::vector<json> runs(static_cast<size_t>(options_.seeds));
    pool_.ParallelFor(options_.seeds, [&](int64_t i) {
      const uint64_t seed = options_.first_seed + static_cast<uint64_t>(i);
      optimizer::OptimizerOptions search;
      search.seed = seed;
      if (!paths.empty()) {
        search.transfer.method = method;
        search.transfer.beginnings = kBeginnings;
      }
      for (const std::string& path : paths) {
        search.transfer.tasks.push_back(EarlierOf(path, seed));
        if (sources != "unrelated")
          search.transfer.tasks.back().space = task.space;  // an equal one
        Distort(sources, seed, search.transfer.tasks.back());
      }
      const Curve curve = Simulate(task, "bayesian", search, {options_.trials, options_.until}, 1);
      json reached = json::array();
      for (const double share : kShares) {
        const int count = curve.TrialsToReach(task.optimum, share);
        reached.push_back(count > curve.trials ? json() : json(count));
      }
      runs[static_cast<size_t>(i)] = {{"trials_to_reach", reached},
                                      {"seconds_asking", curve.seconds_asking}};
    });
    row["runs"] = runs;
    rows_.push_back(row);
    if (!options_.json_path.empty()) base::WriteFile(options_.json_path, rows_.dump() + "\n");
    return row;
  }

  void Print(const json& row) const {
    std::string columns;
    for (size_t share = 0; share < std::size(kShares); ++share) {
      std::vector<int> counts;
      for (const json& run : row.at("runs")) {
        const json& reached = run.at("trials_to_reach").at(share);
        counts.push_back(reached.is_null() ? options_.trials + 1 : reached.get<int>());
      }
      std::ranges::sort(counts);
      const auto at = [&](size_t quarter) {
        const int count = counts[quarter * (counts.size() - 1) / 4];
        return count > options_.trials ? fmt::format(">{}", options_.trials)
                                       : std::to_string(count);
      };
      columns += fmt::format("{:<20}", fmt::format("{} ({} .. {})", at(2), at(1), at(3)));
    }
    fmt::print("{:<26}{:<12}{:<14}{}\n", row.at("space").get<std::string>(),
               row.at("sources").get<std::string>(), row.at("method").get<std::string>(), columns);
    std::fflush(stdout);
  }

  const TransferBenchmark& options_;
  base::ThreadPool pool_;
  std::map<std::string, RecordedTask> tasks_;
  std::map<std::pair<std::string, uint64_t>, optimizer::EarlierTask> earlier_;
  json rows_ = json::array();
};

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::TransferBenchmark options;
  CLI::App app(
      "Counts the evaluations that a search needs on each of several recorded spaces after earlier "
      "searches of others of the same kernel: median and quartiles over the seeds.",
      "bayloom-transfer");
  app.add_option("records", options.records,
                 "T4 files, each with its T1.json beside it; those of one folder are of one kernel")
      ->required();
  app.add_option("--sources", options.sources,
                 "What is learnt from: none, others, shuffled, reversed, unrelated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"none", "others", "shuffled", "reversed", "unrelated"}))
      ->capture_default_str();
  app.add_option("--unrelated", options.unrelated, "A recording of another kernel; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--methods", options.methods, "See bayloom search --transfer-method")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--targets", options.targets,
                 "Only those recordings as targets whose name has one of these parts")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--others", options.others, "Sources, at most")->capture_default_str();
  app.add_option("--tried", options.tried,
                 "Trials of the search of each source; 0: the complete recording")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Searches each")->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Of the seeds, which follow one another")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "Evaluations a search, at most")
      ->capture_default_str();
  app.add_option("--until", options.until,
                 "A search ends when it is as near to the optimum as this, as a share of it")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Searches at a time")->capture_default_str();
  app.add_option("--json", options.json_path,
                 "Also write the results to this file; what it has already is not run again");
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Benchmark(options).Run(); });
}
