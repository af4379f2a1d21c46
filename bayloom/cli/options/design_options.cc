// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/design_options.h"

#include "bayloom/cli/file_name.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/run_options.h"

namespace bayloom::cli {
namespace {

/// How long is searched, how, and what is kept.
void AddSearch(DesignArguments& arguments, CLI::App& design) {
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

std::string DesignFooter() {
  return WithDetails(
      "Examples:\n"
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
      "    - {name: DRAM, technology: DRAM, word-bits: 8}");
}

}  // namespace

accelerator::DesignOptions DesignArguments::Options(const accelerator::DesignSpace& design) const {
  const search::Scenario& scenario = design.scenario();
  accelerator::DesignOptions options;
  options.evaluation.objectives = accelerator::ParseDesignObjectives(objectives);
  for (const std::string& text : limits) {
    accelerator::AddDesignLimit(text, options.evaluation.limits);
  }
  options.evaluation.evaluations = evaluations;
  options.run.seed = seed.value_or(scenario.optimizer_options.seed);
  options.technology = technology;
  options.optimizer = optimizer;
  options.run.budget = MakeBudget(trials ? trials : scenario.max_trials, time);
  if (time.empty() && scenario.max_seconds) {
    options.run.budget.seconds = *scenario.max_seconds;
  }
  options.database = database.empty() ? FileNameOf(scenario.name) + ".db" : database;
  options.resume = resume;
  options.jobs = jobs;
  return options;
}

void AddDesignOptions(DesignArguments& arguments, CLI::App& design) {
  design.add_option("space", arguments.space, "Design space, as docs/design.md describes it")
      ->required();
  design.add_option("--networks", arguments.networks, "ONNX models that the designs are to run")
      ->option_text("MODEL...");
  design.add_option("--op", arguments.operations, "Operations to run, as for 'map'")
      ->option_text("OPERATION...");
  OneOf(design
            .add_option("--objective", arguments.objectives,
                        WithDetails("What to minimize, e.g. energy or edp,area",
                                    ":\nof several objectives a Pareto front, of several networks "
                                    "the\ngeometric mean; objectives are"))
            ->option_text("NAME,...")
            ->default_str("edp")
            ->delimiter(',')
            ->allow_extra_args(false),
        {"energy", "delay", "edp", "area"});
  design
      .add_option("--budget", arguments.limits,
                  "What a design may cost: area=2mm2, energy=5mJ, cycles=1e8")
      ->option_text("LIMIT...")
      ->delimiter(',');
  ListNames(design
                .add_option("--technology", arguments.technology,
                            "Energies and areas of units, a file (YAML) or one of")
                ->option_text("NAME")
                ->default_str("the file's, else 45nm"),
            mapspace::ShippedTechnologyNames());
  ListNames(Advanced(design
                         .add_option("--compare", arguments.compare,
                                     "Architectures to evaluate alike, files (YAML) or of")
                         ->option_text("ARCH...")),
            mapspace::ShippedArchitectureNames());
  AddSearch(arguments, design);
  Advanced(design.add_option("--designs", arguments.designs, "Designs to list")
               ->option_text("N")
               ->capture_default_str()
               ->check(AtLeastOne()));
  design.add_option("--out,-o", arguments.out, "Write the best architecture (YAML), for 'map'")
      ->option_text("FILE");
  design.add_flag("--json", arguments.json, "Print JSON");
  design.footer(DesignFooter());
}

}  // namespace bayloom::cli
