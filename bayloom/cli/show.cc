#include "bayloom/cli/show.h"

#include <CLI/App.hpp>
#include <memory>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

void Show(const ShowOptions& options) {
  if (options.op.empty() == options.subject.empty()) {
    throw InputError("show: name a database or an operator; see 'bayloom show --help'");
  }
  if (!options.op.empty()) return ShowOperator(options);
  if (options.task) return ShowTask(options);
  if (options.trace || options.history || options.assembly) {
    throw InputError("show: --trace, --history and --assembly are about one task; add --task");
  }
  ShowDatabase(options);
}

}  // namespace

void AddShowCommand(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* show = app.add_subcommand("show", "Show tasks, design spaces and what was found");
  show->add_option("database", options->subject, "Database written by 'bayloom tune'");
  show->add_option("--op", options->op, "Show the design spaces of an operator instead");
  show->add_option("--task", options->task, "Show the best program of this task");
  show->add_flag("--trace", options->trace, "With --task: the schedule, step by step");
  show->add_flag("--history", options->history, "With --task: the trials that were improvements");
  show->add_flag("--assembly", options->assembly, "With --task: the code for the processor");
  show->add_flag("--json", options->json, "Print JSON instead of text");
  options->target.AddTo(*show);
  show->footer(
      "Examples:\n"
      "  bayloom show resnet18.db                     sessions and tasks\n"
      "  bayloom show resnet18.db --task 3            the best program as a loop nest\n"
      "  bayloom show resnet18.db --task 3 --history  how it was found\n"
      "  bayloom show --op matmul:512,512,512         what there is to search\n"
      "\n"
      "Operators:\n" +
      OperatorExamples());
  show->callback([options] { Show(*options); });
}

}  // namespace bayloom
