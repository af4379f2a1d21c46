// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <CLI/App.hpp>
#include <memory>

#include "bayloom/cli/candidate_evaluators.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/trial/command_trial.h"

namespace bayloom::cli {
namespace {

struct WorkerArguments {
  TargetOption target;
  int jobs = 1;
  bool sandbox = false;
};

void Work(const WorkerArguments& arguments) {
  trial::PrepareWorkers(arguments.jobs, arguments.sandbox);
  WorkerOptions options;
  options.target = arguments.target.Resolve();
  options.jobs = arguments.jobs;
  options.measuring.runner.sandbox = arguments.sandbox;
  CandidateEvaluators evaluators(std::move(options));
  remote::Serve(STDIN_FILENO, STDOUT_FILENO, evaluators.ServerOptions());
}

}  // namespace

void AddWorkerCommand(CLI::App& app) {
  auto options = std::make_shared<WorkerArguments>();
  CLI::App* work =
      app.add_subcommand("worker", "Try candidates for a tuner on another machine (--workers)");
  options->target.AddTo(*work);
  work->add_option("--jobs,-j", options->jobs, "Configurations or mappings tried concurrently")
      ->option_text("N")
      ->capture_default_str()
      ->check(AtLeastOne());
  Advanced(work->add_flag("--sandbox", options->sandbox,
                          "Programs get no network and cannot write files while they are timed"));
  work->footer(
      WithDetails("It is started by 'bayloom tune', 'search' and 'map' with --workers, reads\n"
                  "requests from standard input and writes reports to standard output, one JSON\n"
                  "object a line, and ends with its input.\n"
                  "\n"
                  "Examples:\n"
                  "  bayloom tune resnet18.onnx --workers 'ssh board1 bayloom worker' \\\n"
                  "                             --workers 'ssh board2 bayloom worker'\n"
                  "  bayloom search flags.yaml --workers 'docker exec -i box bayloom worker -j 4'",
                  "\n\n"
                  "Requests and reports:\n"
                  "  {\"subject\": 1, \"definition\": {...}}    {\"subject\": 1, \"slots\": 4}\n"
                  "  {\"lease\": 7, \"subject\": 1, \"candidate\": {...}}\n"
                  "                                       {\"lease\": 7, \"outcome\": {...}}\n"
                  "  {\"cancel\": true}\n"
                  "  {\"measure\": \"machine\"}               {\"machine\": {...}}\n"
                  "  anything invalid                     {\"error\": \"...\"}\n"
                  "\n"
                  "A worker runs what it is sent: the programs of a tuning, the commands of a\n"
                  "scenario."));
  work->callback([options] { Work(*options); });
}

}  // namespace bayloom::cli
