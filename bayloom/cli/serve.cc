// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/App.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "bayloom/base/read_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/learn_from_option.h"
#include "bayloom/cli/options/scenario_option.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/hypermapper_server.h"
#include "bayloom/search/line_server.h"

namespace bayloom::cli {
namespace {

struct ServeOptions {
  ScenarioOption scenario;
  LearnFromOption learn_from;
  bool hypermapper = false;
};

void Serve(const ServeOptions& options) {
  search::Scenario scenario = options.scenario.Load();
  const std::string database = options.scenario.DatabaseFor(scenario);
  options.learn_from.Teach(database, scenario);
  record::Store store(database);
  search::DurableStudy durable(scenario, store, options.scenario.resume);
  if (options.hypermapper) {
    return search::HyperMapperServer(scenario, durable.study()).Run(std::cin, std::cout);
  }
  search::LineServer server(scenario, durable.study());
  while (const std::optional<base::Line> line = base::ReadLine(std::cin)) {
    std::cout << server.Answer(line->text) << std::endl;
  }
}

}  // namespace

void AddServeCommand(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve =
      app.add_subcommand("serve", "Let a program in any language drive a search (ask and tell)");
  options->scenario.AddTo(*serve);
  AddLearnFromSearches(options->learn_from, *serve);
  serve->add_flag("--hypermapper", options->hypermapper,
                  "Speak the client-server protocol of HyperMapper and BaCO");
  serve->footer(WithDetails(
      "Reads requests from standard input, one JSON object a line, and answers each on\n"
      "standard output: {\"ask\": 2}, {\"tell\": {\"tile\": 4}, \"value\": 1.5}, {\"best\": true}\n"
      "\n"
      "Examples:\n"
      "  echo '{\"ask\": 2}' | bayloom serve space.yaml\n"
      "  examples/search/ask_tell.py        a Python program that starts bayloom serve",
      "\n\n"
      "Requests and answers:\n"
      "  {\"ask\": 2}             {\"configurations\": [{\"tile\": 4}, {\"tile\": 16}]}\n"
      "  {\"tell\": {\"tile\": 4}, \"value\": 1.5}\n"
      "                         {\"trials\": 1, \"best\": {\"value\": 1.5, ...}}\n"
      "  {\"tell\": {\"tile\": 16}, \"feasible\": false, \"reason\": \"out of memory\"}\n"
      "  {\"best\": true}\n"
      "  anything invalid       {\"error\": \"...\"}\n"
      "\n"
      "The scenario needs no evaluator. Configurations may be told in any order, also\n"
      "ones that were not asked for. Every trial is recorded before it is used;\n"
      "--resume continues after any interruption.\n"
      "\n"
      "With --hypermapper, clients written for HyperMapper or BaCO work unchanged:\n"
      "start 'bayloom serve --hypermapper scenario.json' in place of their server."));
  serve->callback([options] { Serve(*options); });
}

}  // namespace bayloom::cli
