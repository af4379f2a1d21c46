// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/show.h"

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/show_run.h"
#include "bayloom/mapspace/architecture.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom::cli {
namespace {

void Show(const ShowOptions& options) {
  const std::string& path = options.subject.path;
  if (!options.architecture.empty()) {
    if (!path.empty() || !options.op.empty()) {
      throw InputError("show: --arch is about an accelerator by itself");
    }
    return ShowArchitecture(options);
  }
  if (options.op.empty() == path.empty()) {
    throw InputError("show: name a database, a model or an operator; see 'bayloom show --help'");
  }
  const bool is_database = options.op.empty() && record::IsDatabase(path);
  if (options.run && (!is_database || options.task || options.trace || options.assembly)) {
    throw InputError(
        "show: --run is about a run of a database; --history, --why and --json go with it");
  }
  if (options.run) {
    return ShowRun({path, *options.run, options.history, options.why, options.json});
  }
  if ((options.why || options.trace || options.history || options.assembly) &&
      !(is_database && options.task)) {
    throw InputError(
        "show: --why, --trace, --history and --assembly are about one task of a database; add "
        "--task");
  }
  if (!options.op.empty()) return ShowWorkload(tensor::ParseOperator(options.op), options);
  if (!is_database) return ShowModel(options);
  options.task ? ShowTask(options) : ShowDatabase(options);
}

}  // namespace

void AddShowCommand(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* show =
      app.add_subcommand("show", "Show the runs, tasks and best results of a database, or a model");
  options->subject.AddTo(*show)->description(
      "Database of 'bayloom tune', 'search' or 'map', or ONNX file");
  show->add_option("--op", options->op, "Show the design spaces of an operator; see 'tune'")
      ->option_text("OPERATOR");
  show->add_option("--arch", options->architecture, "Print the file of an accelerator of 'map'")
      ->option_text("ARCH");
  show->add_option("--task", options->task,
                   "Show one task: its best program, or a model's design spaces")
      ->option_text("ID");
  show->add_option("--run", options->run, "Show one run")->option_text("ID");
  show->add_flag("--why", options->why,
                 "With --task: why its program is fast; with --run: what a mapping costs where");
  show->add_flag("--trace", options->trace, "With --task: the schedule, step by step");
  show->add_flag("--history", options->history, "With --task or --run: the improvements");
  show->add_flag("--assembly", options->assembly, "With --task: the machine code");
  show->add_flag("--json", options->json, "Print JSON");
  options->target.AddTo(*show);
  show->footer(
      "Examples:\n"
      "  bayloom show resnet18.db                     runs and tasks\n"
      "  bayloom show resnet18.db --task 3 --history  a program, and the way to it\n"
      "  bayloom show resnet18.db --task 3 --why      what makes it fast\n"
      "  bayloom show --arch gemmini > mine.yaml      an accelerator to begin with");
  show->callback([options] { Show(*options); });
}

}  // namespace bayloom::cli
