// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/one_line.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/file_name.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/options/workers_option.h"
#include "bayloom/cli/output.h"
#include "bayloom/fleet/design_trials.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/design_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/sensitivity_table.h"
#include "bayloom/tuning/design_search.h"

namespace bayloom::cli {
namespace {

constexpr int64_t kDefaultDesigns = 100;
constexpr int kShownFront = 20;

struct DesignArguments {
  std::string space;
  std::vector<std::string> networks;
  std::vector<std::string> operations;
  std::vector<std::string> objectives = {"edp"};
  std::vector<std::string> limits;
  std::string technology;
  std::vector<std::string> compare;
  std::optional<int64_t> trials;
  std::string time;
  int64_t evaluations = 300;
  std::string optimizer;
  std::optional<uint64_t> seed;
  int designs = 5;
  std::string database;
  bool resume = false;
  int jobs = 1;
  WorkersOption workers;
  std::string out;
  bool json = false;
};

/// The networks, and after them the operations as one more.
std::vector<tuning::DesignNetwork> LoadNetworks(const DesignArguments& arguments) {
  std::vector<tuning::DesignNetwork> networks;
  for (const std::string& path : arguments.networks) {
    ModelOption model;
    model.path = path;
    networks.push_back(
        {std::filesystem::path(path).stem().string(), tuning::LayersOf(model.LoadGraph())});
  }
  if (arguments.operations.empty()) return networks;
  tuning::DesignNetwork& operations = networks.emplace_back();
  operations.name = "operations";
  for (const std::string& line : arguments.operations) {
    operations.layers.push_back({line, mapspace::ParseProblem(line), 1});
  }
  return networks;
}

tuning::DesignOptions OptionsOf(const DesignArguments& arguments,
                                const tuning::DesignSpace& design) {
  const external::Scenario& scenario = design.scenario();
  tuning::DesignOptions options;
  options.evaluation.objectives = tuning::ParseDesignObjectives(arguments.objectives);
  for (const std::string& text : arguments.limits) {
    tuning::AddDesignLimit(text, options.evaluation.limits);
  }
  options.evaluation.evaluations = arguments.evaluations;
  options.evaluation.seed = arguments.seed.value_or(scenario.optimizer_options.seed);
  options.technology = arguments.technology;
  options.optimizer = arguments.optimizer;
  std::optional<int64_t> trials = arguments.trials ? arguments.trials : scenario.max_trials;
  if (!trials && arguments.time.empty() && !scenario.max_seconds) trials = kDefaultDesigns;
  options.budget = MakeBudget(trials, arguments.time);
  if (arguments.time.empty() && scenario.max_seconds) {
    options.budget.seconds = *scenario.max_seconds;
  }
  options.database =
      arguments.database.empty() ? FileNameOf(scenario.name) + ".db" : arguments.database;
  options.resume = arguments.resume;
  options.jobs = arguments.jobs;
  return options;
}

/// Has designs evaluated by the workers, if there are any; they outlive the search.
std::unique_ptr<worker::WorkerPool> Delegate(const DesignArguments& arguments,
                                             tuning::DesignOptions& options) {
  if (arguments.workers.empty()) return nullptr;
  if (arguments.jobs > 1) {
    throw InputError("--jobs: say it to each worker, 'bayloom worker --jobs N'");
  }
  std::unique_ptr<worker::WorkerPool> pool = arguments.workers.Connect();
  options.make_trials = [&pool = *pool](const tuning::DesignSpace& design,
                                        const tuning::DesignEvaluator& evaluator) {
    return fleet::MakeRemoteDesignTrials(pool, design, evaluator);
  };
  return pool;
}

trial::StopReason RunWithProgress(tuning::DesignSearch& search, const WorkersOption& workers) {
  report::RunProgress progress(stderr, search.Status(), report::DesignProgress(search));
  const WorkersOption::NotesInto notes(workers, progress);
  const trial::StopReason reason = search.Run(progress.Observer());
  progress.End();
  return reason;
}

std::vector<report::ComparedDesign> Compare(const DesignArguments& arguments,
                                            tuning::DesignSearch& search) {
  std::vector<report::ComparedDesign> compared;
  for (const std::string& name : arguments.compare) {
    std::optional<trial::Outcome> outcome = search.Compare(name);
    if (!outcome) break;  // stopped
    compared.push_back({name, *std::move(outcome)});
  }
  return compared;
}

void Print(const DesignArguments& arguments, const tuning::DesignSearch& search,
           const std::vector<report::ComparedDesign>& compared) {
  const auto& best = search.study().best();
  const std::vector<external::StudyTrial> designs = search.BestDesigns(arguments.designs);
  fmt::print("\nthe best designs, {} at {}:\n{}", search.scenario().objective,
             base::InOneLine(search.technology().name),
             report::DesignTable(search, designs).Text());
  if (!compared.empty()) {
    fmt::print("\nother architectures, evaluated alike:\n{}",
               report::ComparisonTable(compared, best->outcome.value).Text());
  }
  std::vector<external::StudyTrial> front = search.Front();
  const size_t all = front.size();
  if (all > kShownFront) front.erase(front.begin() + kShownFront, front.end());
  const bool is_pareto = arguments.objectives.size() > 1;
  fmt::print("\ndesigns that no other beats in {} together{}:\n{}",
             is_pareto ? fmt::format("{}", fmt::join(arguments.objectives, ", "))
                       : "area, energy and cycles",
             all > front.size() ? fmt::format(" (the {} {} of {})",
                                              is_pareto ? "first" : "smallest", front.size(), all)
                                : "",
             report::DesignTable(search, front).Text());
  const auto sensitivity = search.Sensitivity();
  if (sensitivity.empty()) return;
  fmt::print("\nwhat the parameters matter to the logarithm of {}:\n{}",
             search.scenario().objective,
             report::SensitivityTable(search.design().space(), sensitivity).Text());
}

void PrintJson(const DesignArguments& arguments, const tuning::DesignSearch& search,
               const std::vector<report::ComparedDesign>& compared, trial::StopReason reason) {
  nlohmann::json json = report::ToJson(search, arguments.designs, compared);
  json["sensitivity"] =
      report::SensitivityTable(search.design().space(), search.Sensitivity()).Json();
  json["end"] = trial::ToString(reason);
  fmt::print("{}\n", report::JsonText(json));
}

void Design(const DesignArguments& arguments) {
  if (arguments.networks.empty() && arguments.operations.empty()) {
    throw InputError("design needs what is to be run: --networks resnet50.onnx, or --op");
  }
  base::CheckFolderOf(arguments.out);
  for (const std::string& name : arguments.compare) mapspace::LoadArchitecture(name);
  tuning::DesignSpace design = tuning::DesignSpace::Load(arguments.space);
  tuning::DesignOptions options = OptionsOf(arguments, design);
  const std::string database = options.database;
  const std::unique_ptr<worker::WorkerPool> pool = Delegate(arguments, options);
  tuning::DesignSearch search(std::move(design), LoadNetworks(arguments), std::move(options));
  Say("{} search {}: {}, records in {}\n", search.resumed() ? "Resuming" : "Beginning",
      search.record().id, base::InOneLine(search.scenario().name), base::InOneLine(database, 200));
  const trial::StopReason reason = RunWithProgress(search, arguments.workers);
  const run::RunStatus status = search.Status();
  Say("{}: {} designs in {}, {} of them beyond the limits or without mappings; {} a design\n",
      DescribeEnd(reason), report::FormatCount(status.trials),
      report::FormatSeconds(status.seconds),
      report::FormatCount(status.trials - status.feasible_trials),
      report::FormatSeconds(report::SecondsPerDesign(search)));
  const auto& best = search.study().best();
  if (best) {
    const auto compared = Compare(arguments, search);
    if (!arguments.out.empty()) {
      base::WriteFile(arguments.out, mapspace::PrintArchitectureYaml(search.ArchitectureOf(*best)));
    }
    if (arguments.json) {
      PrintJson(arguments, search, compared, reason);
    } else {
      Print(arguments, search, compared);
    }
  }
  ThrowIfLost(reason, search.lost());
  if (!best && search.study().last()) {
    throw CheckFailed("no design is within the limits; of the last one: " +
                      search.study().last()->outcome.reason);
  }
}

void AddSearchOptionsOf(DesignArguments& arguments, CLI::App& design) {
  design.add_option("--trials", arguments.trials, "Stop after N designs")
      ->option_text("N")
      ->default_str("the file's, else 100")
      ->check(AtLeastOne());
  design.add_option("--time", arguments.time, "Stop after this long, e.g. 30s, 10m, 2h")
      ->option_text("TIME");
  Advanced(design
               .add_option("--evaluations", arguments.evaluations,
                           "Mappings to evaluate per design and layer, on average")
               ->option_text("N")
               ->capture_default_str()
               ->check(AtLeastOne()));
  OneOf(Advanced(design.add_option("--optimizer", arguments.optimizer, "How designs are chosen")
                     ->option_text("NAME")
                     ->default_str("the file's, else bayesian")),
        optimizer::Optimizers());
  Advanced(design.add_option("--seed", arguments.seed, "Seed of all random choices")
               ->option_text("N")
               ->default_str("the file's, else 0"));
  design.add_option("--db", arguments.database, "Database that keeps every design")
      ->option_text("FILE")
      ->default_str("NAME.db");
  design.add_flag("--resume", arguments.resume, "Continue the last such search, if there is one");
  design.add_option("--jobs,-j", arguments.jobs, "Designs evaluated concurrently")
      ->option_text("N")
      ->capture_default_str()
      ->check(AtLeastOne());
  arguments.workers.AddTo(design);
}

}  // namespace

void AddDesignCommand(CLI::App& app) {
  auto arguments = std::make_shared<DesignArguments>();
  CLI::App* design =
      app.add_subcommand("design", "Search for an accelerator's architecture and its mappings");
  design->add_option("space", arguments->space, "Design space, as docs/design.md describes it")
      ->required();
  design->add_option("--networks", arguments->networks, "ONNX models that the designs are to run")
      ->option_text("MODEL...");
  design->add_option("--op", arguments->operations, "Operations to run, as for 'map'")
      ->option_text("OPERATION...");
  OneOf(design
            ->add_option("--objective", arguments->objectives,
                         WithDetails("What to minimize, e.g. energy or edp,area",
                                     ":\nof several objectives a Pareto front, of several networks "
                                     "the\ngeometric mean; objectives are"))
            ->option_text("NAME,...")
            ->default_str("edp")
            ->delimiter(',')
            ->allow_extra_args(false),
        {"energy", "delay", "edp", "area"});
  design
      ->add_option("--budget", arguments->limits,
                   "What a design may cost: area=2mm2, energy=5mJ, cycles=1e8")
      ->option_text("LIMIT...")
      ->delimiter(',');
  ListNames(design
                ->add_option("--technology", arguments->technology,
                             "Energies and areas of units, a file (YAML) or one of")
                ->option_text("NAME")
                ->default_str("the file's, else 45nm"),
            mapspace::ShippedTechnologyNames());
  ListNames(Advanced(design
                         ->add_option("--compare", arguments->compare,
                                      "Architectures to evaluate alike, files (YAML) or of")
                         ->option_text("ARCH...")),
            mapspace::ShippedArchitectureNames());
  AddSearchOptionsOf(*arguments, *design);
  Advanced(design->add_option("--designs", arguments->designs, "Designs to list")
               ->option_text("N")
               ->capture_default_str()
               ->check(AtLeastOne()));
  design->add_option("--out,-o", arguments->out, "Write the best architecture (YAML), for 'map'")
      ->option_text("FILE");
  design->add_flag("--json", arguments->json, "Print JSON");
  design->footer(
      WithDetails("Examples:\n"
                  "  bayloom design eyeriss.yaml --networks resnet18.onnx --budget area=2mm2",
                  "\n"
                  "  bayloom design eyeriss.yaml --networks a.onnx b.onnx --technology 7nm\n"
                  "  bayloom design eyeriss.yaml --networks a.onnx --objective edp,area --jobs 4\n"
                  "  bayloom design chip.yaml --op matmul:512,512,512 --compare gemmini16x16\n"
                  "\n"
                  "A design space is an architecture, as 'map' reads it, with parameters:\n"
                  "\n"
                  "  parameters:\n"
                  "    rows: {type: ordinal, values: [4, 8, 16], default: 8}\n"
                  "    size: {type: ordinal, values: [32, 64, 128], default: 64}\n"
                  "  constraints:\n"
                  "  - rows * size <= 1024\n"
                  "  arch:\n"
                  "    arithmetic: {instances: $(rows), word-bits: 8}\n"
                  "    storage:\n"
                  "    - {name: Registers, entries: 16, instances: $(rows), word-bits: 8}\n"
                  "    - {name: Buffer, sizeKB: $(size), word-bits: 8}\n"
                  "    - {name: DRAM, technology: DRAM, word-bits: 8}"));
  design->callback([arguments] { Design(*arguments); });
}

}  // namespace bayloom::cli
