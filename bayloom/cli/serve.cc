// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/App.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/scenario_option.h"
#include "bayloom/external/hypermapper_server.h"
#include "bayloom/external/line_server.h"
#include "bayloom/tuning/durable_study.h"

namespace bayloom::cli {
namespace {

struct ServeOptions {
  ScenarioOption scenario;
  bool hypermapper = false;
};

void Serve(const ServeOptions& options) {
  const external::Scenario scenario = options.scenario.Load();
  record::Store store(options.scenario.DatabaseFor(scenario));
  tuning::DurableStudy durable(scenario, store, options.scenario.resume);
  if (options.hypermapper) {
    return external::HyperMapperServer(scenario, durable.study()).Run(std::cin, std::cout);
  }
  external::LineServer server(scenario, durable.study());
  std::string line;
  while (std::getline(std::cin, line)) std::cout << server.Answer(line) << std::endl;
}

}  // namespace

void AddServeCommand(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve =
      app.add_subcommand("serve", "Let a program in any language drive a search by ask and tell");
  options->scenario.AddTo(*serve);
  serve->add_flag("--hypermapper", options->hypermapper,
                  "Speak as HyperMapper and BaCO do in their client-server mode");
  serve->footer(
      "Reads one JSON object a line from standard input and answers each with one on standard\n"
      "output, until the input ends:\n"
      "\n"
      "  {\"ask\": 2}                        {\"configurations\": [{\"tile\": 4}, {\"tile\": "
      "16}]}\n"
      "  {\"tell\": {\"tile\": 4}, \"value\": 1.5}\n"
      "                                    {\"trials\": 1, \"best\": {\"value\": 1.5, ...}}\n"
      "  {\"tell\": {\"tile\": 16}, \"feasible\": false, \"reason\": \"out of memory\"}\n"
      "  {\"best\": true}\n"
      "\n"
      "The scenario needs no evaluator. Configurations may be told in any order, also ones that\n"
      "were never asked for. What cannot be used is answered by {\"error\": \"...\"}. Trials are\n"
      "recorded before they are learnt from; --resume goes on after whatever happened.\n"
      "\n"
      "With --hypermapper, programs made for HyperMapper or BaCO are served as they are: start\n"
      "'bayloom serve --hypermapper scenario.json' where they start theirs.\n"
      "\n"
      "Example:\n"
      "  examples/search/ask_tell.py, which starts 'bayloom serve space.yaml'");
  serve->callback([options] { Serve(*options); });
}

}  // namespace bayloom::cli
