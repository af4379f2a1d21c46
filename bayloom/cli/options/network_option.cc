// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/network_option.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/derivations_option.h"
#include "bayloom/cli/output.h"
#include "bayloom/cli/regions.h"
#include "bayloom/record/store.h"
#include "bayloom/report/format.h"
#include "bayloom/report/status_line.h"

namespace bayloom::cli {
namespace {

/// How many programs are estimated for a task without records.
struct Effort {
  const char* name;
  int population, generations;
};
constexpr Effort kEfforts[] = {
    {"none", 0, 0}, {"low", 128, 2}, {"normal", 512, 4}, {"high", 2048, 8}};

tuning::ZeroTrialOptions OptionsFor(const std::string& effort) {
  const Effort* const found = std::ranges::find(kEfforts, effort, &Effort::name);
  tuning::ZeroTrialOptions options;
  options.population = found->population;
  options.generations = found->generations;
  return options;
}

/// Shows how far the choice of programs is.
class ChoiceProgress {
 public:
  void Show(int done, int all) {
    const double seconds = base::MonotonicSeconds() - start_;
    const std::string left =
        done == 0 ? ""
                  : fmt::format(", {} left", report::FormatSeconds(seconds * (all - done) / done));
    line_.Show(fmt::format("choosing programs: {} of {} tasks{}", done, all, left));
  }

  void Keep(const std::string& text) { line_.Keep(text); }

 private:
  double start_ = base::MonotonicSeconds();
  report::StatusLine line_{stderr};
};

/// "3 of 20 tasks tuned, 2 of them by earlier tunings; 15 chosen by estimate, 2 plain".
std::string Describe(const tuning::TunedNetwork& network) {
  using tuning::ProgramSource;
  std::string text =
      fmt::format("{} of {} tasks tuned for {} with {} threads", network.TunedTasks(),
                  network.chosen.size(), network.target.cpu, network.target.cores);
  if (const int known = network.CountOf(ProgramSource::kKnown); known > 0) {
    text += fmt::format(", {} of them earlier", known);
  }
  if (const int estimated = network.CountOf(ProgramSource::kEstimated); estimated > 0) {
    text += fmt::format("; {} chosen by estimate", estimated);
  }
  if (const tuning::DerivedTasks derived = network.Derived(); derived.count > 0) {
    text += fmt::format("; {} by Winograd's algorithm, with errors of at most {:.1e}",
                        derived.count, derived.error);
  }
  if (!network.regions.empty()) text += "; " + RegionsText(network.regions);
  if (!network.cost.empty()) text += "; chosen by cost: " + CostText(network.cost);
  return text;
}

/// The target with its machine as it was when the records were made, if they have it.
target::Target AsRecorded(target::Target target, record::Store* records) {
  if (records == nullptr) return target;
  if (const std::optional<record::TargetId> known = records->FindTarget(target)) {
    target.machine = records->TargetOf(*known).machine;
  }
  return target;
}

}  // namespace

void NetworkOption::AddTo(CLI::App& command) {
  model.AddTo(command)->required();
  command.add_option("--db", database, "Database of 'bayloom tune'")
      ->option_text("FILE")
      ->default_str("MODEL.db, if it exists");
  store.AddTo(command);
  Advanced(OneOf(command
                     .add_option("--effort", effort,
                                 "How long to choose programs of tasks that were not tuned")
                     ->option_text("NAME")
                     ->capture_default_str(),
                 {"none", "low", "normal", "high"}));
  AddDerivationsOption(command, derivations);
  AddDivisionsOption(command, divisions);
  Advanced(OneOf(command
                     .add_option("--branches", branches,
                                 "Tasks that do not depend on each other, on several threads")
                     ->option_text("NAME")
                     ->capture_default_str(),
                 {"in-turn", "side-by-side"}));
  preference.AddTo(command);
  model.precision.AddTo(command);
  target.AddTo(command);
}

graph::Branches NetworkOption::Branches() const { return *graph::ParseBranches(branches); }

tuning::TunedNetwork NetworkOption::Load() const {
  std::vector<ShapedNetwork> loaded =
      LoadShapes({model.OnlyShape()}, {target.Resolve()}, /*runs_here=*/true);
  return std::move(loaded.front().targets.front());
}

std::vector<ShapedNetwork> NetworkOption::LoadForAll() const {
  return LoadShapes(model.shapes.All(), target.ResolveAll(), target.name == "native");
}

std::vector<ShapedNetwork> NetworkOption::LoadParts(graph::PartialNetwork& network) const {
  std::vector<std::string> labels;
  std::vector<graph::Graph*> parts;
  for (graph::PartialStep& step : network.steps) {
    if (!step.part) continue;
    parts.push_back(&*step.part);
    labels.push_back(fmt::format("part {}", parts.size()));
  }
  return LoadFor(
      labels, [&](size_t part) { return model.precision.TasksOf(std::move(*parts[part])); },
      target.ResolveAll(), target.name == "native");
}

std::vector<ShapedNetwork> NetworkOption::LoadShapes(const std::vector<ModelShape>& shapes,
                                                     const std::vector<target::Target>& targets,
                                                     bool runs_here) const {
  std::vector<std::string> labels;
  for (const ModelShape& shape : shapes) labels.push_back(shape.label);
  return LoadFor(
      labels, [&](size_t shape) { return model.Load(shapes[shape]); }, targets, runs_here);
}

tuning::TunedNetwork NetworkOption::ZeroTrial(const tuning::TunedNetwork& network) const {
  ChoiceProgress progress;
  return tuning::TunedNetwork::Choose(
      network.network, network.target,
      {.zero_trials = OptionsFor(effort),
       .derivations = *sketch::DerivationChoice::Parse(derivations.value_or("all")),
       .observer = [&](int done, int all) { progress.Show(done, all); }});
}

tuning::TunedNetwork NetworkOption::Choose(const graph::TaskGraph& network,
                                           const target::Target& wanted, record::Store* records,
                                           tuning::UserStore& user_store, bool runs_here,
                                           tuning::ConstantForms* forms) const {
  std::unique_ptr<tuning::ProgramCheck> check;
  if (runs_here) check = std::make_unique<tuning::ProgramCheck>(wanted);
  ChoiceProgress progress;
  return tuning::TunedNetwork::Choose(
      network, user_store.WithMachine(AsRecorded(wanted, records)),
      {.store = records,
       .user_store = &user_store,
       .zero_trials = OptionsFor(effort),
       .derivations = *sketch::DerivationChoice::Parse(derivations.value_or("all")),
       .forms = forms,
       .check = check.get(),
       .divisions = *tuning::ParseDivisions(divisions.value_or("all")),
       .preference = preference.Get(),
       .observer = [&](int done, int all) { progress.Show(done, all); },
       .warning =
           [&](const std::string& reason) {
             progress.Keep(fmt::format("warning: a plain program is used: {}", reason));
           }});
}

std::vector<ShapedNetwork> NetworkOption::LoadFor(
    const std::vector<std::string>& labels, const std::function<graph::TaskGraph(size_t)>& load,
    const std::vector<target::Target>& targets, bool runs_here) const {
  const std::string path = database.empty() ? model.DefaultDatabase() : database;
  std::unique_ptr<record::Store> records;
  if (!database.empty() || std::filesystem::exists(path)) {
    records = std::make_unique<record::Store>(path, record::Store::Mode::kReadOnly);
    model.precision.Learn(*records);
  }
  tuning::UserStore user_store = store.Open();
  const bool is_shared = labels.size() > 1;
  std::map<std::string, tuning::ConstantForms> forms;  // by target
  std::vector<ShapedNetwork> all;
  for (size_t i = 0; i < labels.size(); ++i) {
    const graph::TaskGraph network = load(i);
    ShapedNetwork& loaded = all.emplace_back(ShapedNetwork{labels[i], {}});
    for (const target::Target& wanted : targets) {
      const bool is_gpu = wanted.kind() == target::TargetKind::kNvidiaGpu;
      loaded.targets.push_back(Choose(is_gpu ? graph::ForGpu(network) : network, wanted,
                                      records.get(), user_store, runs_here,
                                      is_shared ? &forms[wanted.name] : nullptr));
      Say("{}{}{}: {}{}\n", base::SingleLine(model.path, 200), labels[i].empty() ? "" : " ",
          base::SingleLine(labels[i]), Describe(loaded.targets.back()),
          records ? "" : "; there is no " + base::SingleLine(path, 200));
    }
  }
  return all;
}

}  // namespace bayloom::cli
