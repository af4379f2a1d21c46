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

#include "bayloom/accelerator/design_search.h"
#include "bayloom/accelerator/remote_designs.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/options/design_options.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/design_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/sensitivity_table.h"

namespace bayloom::cli {
namespace {

constexpr int kShownFront = 20;

/// The networks, and after them the operations as one more.
std::vector<accelerator::DesignNetwork> LoadNetworks(const DesignArguments& arguments) {
  std::vector<accelerator::DesignNetwork> networks;
  for (const std::string& path : arguments.networks) {
    ModelOption model;
    model.path = path;
    networks.push_back(
        {std::filesystem::path(path).stem().string(), accelerator::LayersOf(model.LoadGraph())});
  }
  if (arguments.operations.empty()) return networks;
  accelerator::DesignNetwork& operations = networks.emplace_back();
  operations.name = "operations";
  for (const std::string& line : arguments.operations) {
    operations.layers.push_back({line, mapspace::ParseProblem(line), 1});
  }
  return networks;
}

/// Has designs evaluated by the workers, if there are any; they outlive the search.
std::unique_ptr<remote::WorkerPool> Delegate(const DesignArguments& arguments,
                                             accelerator::DesignOptions& options) {
  if (arguments.workers.empty()) return nullptr;
  if (arguments.jobs > 1) {
    throw InputError("--jobs: say it to each worker, 'bayloom worker --jobs N'");
  }
  std::unique_ptr<remote::WorkerPool> pool = arguments.workers.Connect();
  options.make_trials = [&pool = *pool](const accelerator::DesignSpace& design,
                                        const accelerator::DesignEvaluator& evaluator) {
    return accelerator::MakeRemoteDesignTrials(pool, design, evaluator);
  };
  return pool;
}

trial::StopReason RunWithProgress(accelerator::DesignSearch& search, const WorkersOption& workers) {
  report::RunProgress progress(stderr, search.Status(), report::DesignProgress(search));
  const WorkersOption::NotesInto notes(workers, progress);
  const trial::StopReason reason = search.Run(progress.Observer());
  progress.End();
  return reason;
}

std::vector<report::ComparedDesign> Compare(const DesignArguments& arguments,
                                            accelerator::DesignSearch& search) {
  std::vector<report::ComparedDesign> compared;
  for (const std::string& name : arguments.compare) {
    std::optional<trial::Outcome> outcome = search.Compare(name);
    if (!outcome) break;  // stopped
    compared.push_back({name, *std::move(outcome)});
  }
  return compared;
}

void Print(const DesignArguments& arguments, const accelerator::DesignSearch& search,
           const std::vector<report::ComparedDesign>& compared) {
  const auto& best = search.study().best();
  const std::vector<search::StudyTrial> designs = search.BestDesigns(arguments.designs);
  fmt::print("\nthe best designs, {} at {}:\n{}", search.scenario().objectives[0].name,
             base::SingleLine(search.technology().name),
             report::DesignTable(search, designs).Text());
  if (!compared.empty()) {
    fmt::print(
        "\nother architectures, evaluated alike:\n{}",
        report::ComparisonTable(compared, search.scenario().objectives[0].name, best->outcome.value)
            .Text());
  }
  std::vector<search::StudyTrial> front = search.Front();
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
             search.scenario().objectives[0].name,
             report::SensitivityTable(search.design().space(), sensitivity).Text());
}

void PrintJson(const DesignArguments& arguments, const accelerator::DesignSearch& search,
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
  accelerator::DesignSpace design = accelerator::DesignSpace::Load(arguments.space);
  accelerator::DesignOptions options = arguments.Options(design);
  const std::string database = options.database;
  const std::unique_ptr<remote::WorkerPool> pool = Delegate(arguments, options);
  accelerator::DesignSearch search(std::move(design), LoadNetworks(arguments), std::move(options));
  Say("{} search {}: {}, records in {}\n", search.resumed() ? "Resuming" : "Beginning",
      search.record().id, base::SingleLine(search.scenario().name),
      base::SingleLine(database, 200));
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

}  // namespace

void AddDesignCommand(CLI::App& app) {
  auto arguments = std::make_shared<DesignArguments>();
  CLI::App* design =
      app.add_subcommand("design", "Search for an accelerator's architecture and its mappings");
  AddDesignOptions(*arguments, *design);
  design->callback([arguments] { Design(*arguments); });
}

}  // namespace bayloom::cli
