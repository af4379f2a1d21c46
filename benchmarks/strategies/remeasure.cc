// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// The best programs of many tunings of one network, timed again in turns: what the machine's drift
// between the tunings did to their latencies falls out.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/base/quantile.h"
#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/codegen/host.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/record/store.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/tuning_subject.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct RemeasureOptions {
  std::string model;
  std::vector<std::string> databases;
  std::string by = "strategy";      ///< the option of a tuning that is compared
  std::vector<std::string> values;  ///< of that option; none: all
  std::vector<int64_t> after = {std::numeric_limits<int64_t>::max()};
  std::string reference = "evolutionary";
  int rounds = 5;
  int threads = 1;
  bool untried_by_first = false;  ///< a task without trials yet counts with its first program
  std::string json;
};

/// One session.
struct Tuning {
  std::string value;  ///< of the option that is compared
  uint64_t seed = 0;
  std::map<record::TaskId, std::vector<record::StoredTrial>>
      trials;  ///< those that count, of each task in order
  record::Store* store = nullptr;
  std::vector<double> seconds;  ///< of the network, by its best programs after so many trials
};

/// What the session was begun with; empty where it does not say.
std::string OptionOf(const record::RunRecord& session, const std::string& name) {
  const nlohmann::json options = nlohmann::json::parse(session.definition, nullptr, false);
  return options.is_object() ? options.value(name, "") : "";
}

/// bayloom-strategies adds to the model's name what makes a session its own.
bool IsOf(const record::RunRecord& session, const std::string& subject) {
  return session.name == subject || session.name.starts_with(subject + " ");
}

std::vector<Tuning> ReadTunings(record::Store& store, const std::string& subject,
                                const RemeasureOptions& options) {
  std::vector<Tuning> tunings;
  for (const record::RunRecord& session : store.Runs(record::RunKind::kTune)) {
    const std::string value = OptionOf(session, options.by);
    if (!session.finished || value.empty() || !IsOf(session, subject)) continue;
    if (!options.values.empty() && std::ranges::find(options.values, value) == options.values.end())
      continue;
    Tuning& tuning = tunings.emplace_back();
    tuning.value = value;
    tuning.seed = session.seed;
    tuning.store = &store;
    for (record::StoredTrial& trial : store.TrialsOfRun(session.id)) {
      if (!trial.outcome.ok() || measure::DetailsOf(trial.outcome).cut_short) continue;
      tuning.trials[trial.task].push_back(std::move(trial));
    }
  }
  return tunings;
}

/// The fastest of a task's trials before an ordinal; while there is none, the first one or null.
const record::StoredTrial* BestBefore(const std::vector<record::StoredTrial>& trials,
                                      int64_t ordinal, bool or_first) {
  const record::StoredTrial* best = or_first && !trials.empty() ? &trials.front() : nullptr;
  for (const record::StoredTrial& trial : trials) {
    if (trial.ordinal >= ordinal) break;
    if (best == nullptr || trial.outcome.value < best->outcome.value) best = &trial;
  }
  return best;
}

/// Programs of one task, each timed once a round, in an order of its own every round.
class Turns {
 public:
  explicit Turns(const sketch::SpaceGenerator& space) : space_(space) {}

  void Add(const record::StoredTrial& trial) {
    if (programs_.contains(trial.key)) return;
    Result<sketch::Candidate> candidate = tuning::RestoreCandidate(space_, trial);
    if (!candidate) throw InputError(candidate.error().message);
    programs_.emplace(trial.key, Timed{*std::move(candidate), {}});
  }

  void Run(measure::Measurer& measurer, int rounds, base::RandomStream& random) {
    std::vector<Timed*> order;
    for (auto& [hash, timed] : programs_) order.push_back(&timed);
    for (int round = 0; round < rounds; ++round) {
      random.Shuffle(order);
      std::vector<const tensor::Program*> programs;
      for (const Timed* timed : order) programs.push_back(&timed->candidate.program);
      const std::vector<trial::Outcome> outcomes = measurer.Measure(space_.workload(), programs);
      if (outcomes.size() < order.size()) throw InputError("stopped");
      for (size_t i = 0; i < order.size(); ++i) {
        if (outcomes[i].ok()) order[i]->seconds.push_back(outcomes[i].value);
      }
    }
  }

  /// The median of the rounds.
  double SecondsOf(const record::StoredTrial& trial) const {
    const std::vector<double>& seconds = programs_.at(trial.key).seconds;
    return seconds.empty() ? std::numeric_limits<double>::infinity() : base::Median(seconds);
  }

 private:
  struct Timed {
    sketch::Candidate candidate;
    std::vector<double> seconds;
  };
  const sketch::SpaceGenerator& space_;
  std::map<uint64_t, Timed> programs_;  ///< by hash
};

void Remeasure(const tuning::TaskSpec& spec, std::vector<Tuning>& tunings,
               const RemeasureOptions& options, measure::Measurer& measurer,
               base::RandomStream& random) {
  const sketch::SpaceGenerator space(spec.workload, measurer.target());
  Turns turns(space);
  std::vector<std::vector<const record::StoredTrial*>> best(tunings.size());
  for (size_t i = 0; i < tunings.size(); ++i) {
    const std::optional<record::TaskId> task =
        tunings[i].store->FindTask(spec.workload.StructuralHash());
    for (const int64_t after : options.after) {
      best[i].push_back(task ? BestBefore(tunings[i].trials[*task], after, options.untried_by_first)
                             : nullptr);
      if (best[i].back() != nullptr) turns.Add(*best[i].back());
    }
  }
  turns.Run(measurer, options.rounds, random);
  for (size_t i = 0; i < tunings.size(); ++i) {
    for (size_t k = 0; k < options.after.size(); ++k) {
      tunings[i].seconds[k] += best[i][k] == nullptr ? std::numeric_limits<double>::infinity()
                                                     : spec.weight * turns.SecondsOf(*best[i][k]);
    }
  }
}

double GeometricMean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// "-" while some task has no program.
std::string Milliseconds(double seconds) {
  return std::isfinite(seconds) ? fmt::format("{:.4g}", seconds * 1e3) : "-";
}

/// Of every value, the geometric means over its tunings, and the reference's over those.
void PrintMeans(const std::vector<Tuning>& tunings, const RemeasureOptions& options) {
  std::map<std::string, std::vector<double>> means;
  for (const Tuning& tuning : tunings) {
    if (means.contains(tuning.value)) continue;
    for (size_t k = 0; k < options.after.size(); ++k) {
      std::vector<double> seconds;
      for (const Tuning& other : tunings) {
        if (other.value == tuning.value) seconds.push_back(other.seconds[k]);
      }
      means[tuning.value].push_back(GeometricMean(seconds));
    }
  }
  for (const auto& [value, seconds] : means) {
    fmt::print("{:<16}{:<8}", value, "mean");
    for (size_t k = 0; k < seconds.size(); ++k) {
      fmt::print("{:>10}", Milliseconds(seconds[k]));
      if (std::isfinite(seconds[k]) && means.contains(options.reference)) {
        fmt::print(" ({:.3f})", means[options.reference][k] / seconds[k]);
      }
    }
    fmt::print("\n");
  }
}

void Run(const RemeasureOptions& options) {
  cli::ModelOption model;
  model.path = options.model;
  const tuning::TuningSubject subject =
      tuning::NetworkSubject(std::filesystem::path(model.path).filename().string(), model.Load());
  std::list<record::Store> stores;
  std::vector<Tuning> tunings;
  for (const std::string& path : options.databases) {
    std::vector<Tuning> read = ReadTunings(
        stores.emplace_back(path, record::Store::Mode::kReadOnly), subject.name, options);
    std::move(read.begin(), read.end(), std::back_inserter(tunings));
  }
  if (tunings.empty()) throw InputError("no finished tuning of " + subject.name);
  for (Tuning& tuning : tunings) tuning.seconds.assign(options.after.size(), 0);

  measure::MeasureOptions measuring;
  measuring.cut_factor = 0;
  measuring.drift_interval = std::numeric_limits<int>::max();
  measure::Measurer measurer(codegen::HostTarget(options.threads), measuring);
  base::RandomStream random(1);
  for (size_t i = 0; i < subject.specs.size(); ++i) {
    fmt::print(stderr, "task {} of {}\n", i + 1, subject.specs.size());
    Remeasure(subject.specs[i], tunings, options, measurer, random);
  }
  nlohmann::json results = nlohmann::json::array();
  for (const Tuning& tuning : tunings) {
    fmt::print("{:<16}{:<8}", tuning.value, tuning.seed);
    for (const double seconds : tuning.seconds) fmt::print("{:>10}", Milliseconds(seconds));
    fmt::print("\n");
    results.push_back(
        {{options.by, tuning.value}, {"seed", tuning.seed}, {"seconds", tuning.seconds}});
  }
  PrintMeans(tunings, options);
  if (options.json.empty()) return;
  std::ofstream file(options.json);
  file << results.dump() << "\n";
  file.close();
  if (!file) throw InputError(options.json + ": cannot write");
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  bayloom::RemeasureOptions options;
  CLI::App app(
      "Times the best programs of tunings by bayloom-strategies or `bayloom tune` again, in turns. "
      "Prints the network's milliseconds; beside a mean the reference's over it.",
      "bayloom-remeasure");
  app.add_option("model", options.model, "The network (*.onnx)")->required();
  app.add_option("databases", options.databases, "Where the tunings are recorded")->required();
  app.add_option("--by", options.by, "What is compared: strategy or scheduler")
      ->check(CLI::IsMember({"strategy", "scheduler"}))
      ->capture_default_str();
  app.add_option("--only", options.values, "Only tunings with these of them")->delimiter(',');
  app.add_option("--after", options.after, "The best programs after so many trials")
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "How often each is timed")
      ->check(bayloom::cli::AtLeastOne())
      ->capture_default_str();
  app.add_option("--reference", options.reference)->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that the code uses")->capture_default_str();
  app.add_flag(
      "--untried-by-first", options.untried_by_first,
      "Count a task that has had no trial yet with the first program that it came to have");
  app.add_option("--json", options.json, "Also write the seconds to this file");
  bayloom::base::CatchStopSignals();
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Run(options); });
}
