// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/tune_options.h"

#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/derivations_option.h"
#include "bayloom/cli/options/objective_option.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/regions.h"
#include "bayloom/strategy/strategy.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom::cli {
namespace {

/// What is tuned, and how long.
void AddSubject(TuneArguments& arguments, CLI::App& tune) {
  arguments.model.AddTo(tune);
  arguments.model.AddPartialTo(
      tune, WithDetails("Tune the parts that can be translated",
                        ", as one network; 'bayloom check --partial' lists them"));
  tune.add_option(
          "--op", arguments.op,
          WithDetails("Tune one operator, e.g. matmul:512,512,512", "; the forms are listed below"))
      ->option_text("OPERATOR");
  tune.add_option("--trials", arguments.trials, "Programs to measure")
      ->option_text("N")
      ->default_str("1000, for an operator 256")
      ->check(AtLeastOne());
  tune.add_option("--time", arguments.time, "Stop after this long, e.g. 30s, 10m, 2h")
      ->option_text("TIME");
  tune.add_option("--until-gain", arguments.until_gain,
                  WithDetails("Stop when another minute should gain less, e.g. 0.5%/min",
                              "; without --trials and --time nothing else ends the tuning"))
      ->option_text("RATE");
}

/// How it is searched.
void AddSearch(TuneArguments& arguments, CLI::App& tune) {
  AddObjectiveOption(tune, arguments.options.objectives);
  ListNames(Advanced(tune.add_option("--strategy", arguments.options.strategy,
                                     "How programs to measure are chosen")
                         ->option_text("NAME")
                         ->default_str("bayes"))
                ->check([](const std::string& name) {
                  const Status known = strategy::CheckStrategyName(name);
                  return known ? std::string() : known.error().message;
                }),
            strategy::Strategies().Names(), strategy::Strategies().ExperimentalNames());
  AddSchedulerOption(tune, arguments.options.run.scheduler,
                     "How trials are divided between operators");
  AddDerivationsOption(tune, arguments.options.derivations);
  AddDivisionsOption(tune, arguments.options.divisions);
  Advanced(tune.add_option("--seed", arguments.options.run.seed, "Seed of all random choices")
               ->option_text("N")
               ->capture_default_str());
}

/// What is kept and what is known, and who measures.
void AddRecords(TuneArguments& arguments, CLI::App& tune) {
  tune.add_option("--db", arguments.database,
                  WithDetails("Database that keeps every trial", ", for --op operators.db"))
      ->option_text("FILE")
      ->default_str("MODEL.db");
  Advanced(arguments.learn_from.AddTo(tune, "earlier",
                                      "store (what this user's tunings measured), FILE",
                                      "a database of 'tune', or a model of 'pretrain'"));
  tune.add_flag("--resume", arguments.options.resume,
                WithDetails("Continue the last session of this model, if there is one",
                            "; its trials\nand its time count for --trials and --time"));
  arguments.workers.AddTo(tune);
  Advanced(tune.add_flag("--sandbox", arguments.sandbox,
                         "Programs get no network and cannot write files while they are timed"));
  tune.add_flag("--json", arguments.json, "Print JSON");
  arguments.model.precision.AddTo(tune);
  arguments.store.AddTo(tune);
  arguments.target.AddTo(tune);
}

std::string TuneFooter() {
  return WithDetails(
      "Examples:\n"
      "  bayloom tune resnet18.onnx --time 10m\n"
      "  bayloom tune resnet18.onnx --objective latency,size\n"
      "  bayloom tune bert.onnx --dim batch=1 --dim sequence=16,64,128\n"
      "  bayloom tune --op matmul:512,512,512 --threads 1",
      "\n\n"
      "Every trial is recorded as it ends: interrupt at any time, even by kill -9, and\n"
      "continue with --resume.\n"
      "\n"
      "For another architecture programs are compiled here and measured there:\n"
      "  bayloom tune resnet18.onnx --target aarch64-linux-gnu:cortex-a76 \\\n"
      "                             --workers 'ssh board ./bayloom-worker'\n"
      "\n"
      "Strategies:\n"
      "  bayes         evolutionary search by a cost model together with a surrogate\n"
      "                whose prior is an estimate of the program's time\n"
      "  evolutionary  evolutionary search by a cost model (MetaSchedule)\n"
      "  random        random programs\n"
      "\n"
      "Derivations, which are tried beside the operator as it is defined:\n"
      "  winograd-2x2  3x3 convolutions in float32 by Winograd's F(2x2, 3x3)\n"
      "  winograd-4x4  the same by F(4x4, 3x3): fewer products, errors some five times\n"
      "                those of the definition\n"
      "  winograd-6x6  the same by F(6x6, 3x3), only if it is named: errors some twenty\n"
      "                times those of the definition, below 1e-4 of the largest output\n"
      "\n"
      "Operators:\n" +
          tensor::OperatorExamples());
}

}  // namespace

tuning::TuneOptions TuneArguments::Options() const {
  tuning::TuneOptions given = options;
  given.precision = model.precision.Json();
  given.learn_from = learn_from.Sources();
  given.run.budget = MakeBudget(trials, time);
  if (!until_gain.empty()) {
    given.run.until_gain_per_minute = ParseGainRate(until_gain, "--until-gain");
  }
  return given;
}

void AddTuneOptions(TuneArguments& arguments, CLI::App& tune) {
  AddSubject(arguments, tune);
  AddSearch(arguments, tune);
  AddRecords(arguments, tune);
  tune.footer(TuneFooter());
}

}  // namespace bayloom::cli
