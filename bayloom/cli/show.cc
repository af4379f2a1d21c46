#include "bayloom/cli/show.h"

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "bayloom/base/result.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/show_search.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

/// SQLite's files begin with these words.
bool IsDatabase(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read '" + path + "': " + std::strerror(errno));
  char start[15] = {};
  file.read(start, sizeof(start));
  return std::string_view(start, sizeof(start)) == "SQLite format 3";
}

void Show(const ShowOptions& options) {
  const std::string& path = options.subject.path;
  if (options.op.empty() == path.empty()) {
    throw InputError("show: name a database, a model or an operator; see 'bayloom show --help'");
  }
  const bool is_database = options.op.empty() && IsDatabase(path);
  if (options.search) {
    const bool about_tasks = options.task || options.session || !options.model_chart.empty() ||
                             options.trace || options.assembly;
    if (!is_database || about_tasks) {
      throw InputError(
          "show: --search is about a database; --history, --chart and --json go with it");
    }
    return ShowSearch({path, *options.search, options.history, options.json, options.chart});
  }
  if ((options.trace || options.history || options.assembly) && !(is_database && options.task)) {
    throw InputError(
        "show: --trace, --history and --assembly are about one task of a database; add --task");
  }
  const bool draws = !options.chart.empty() || !options.model_chart.empty();
  if ((draws || options.session) && !(is_database && draws && !options.task)) {
    throw InputError("show: --chart, --model-chart and --session draw a session of a database");
  }
  if (!options.op.empty()) return ShowWorkload(ParseOperator(options.op), options);
  if (!is_database) return ShowModel(options);
  if (draws) return ShowCharts(options);
  options.task ? ShowTask(options) : ShowDatabase(options);
}

}  // namespace

void AddShowCommand(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* show = app.add_subcommand("show", "Show tasks, design spaces and what was found");
  options->subject.AddTo(*show)->description(
      "Database written by 'bayloom tune' or 'bayloom search', or ONNX file");
  show->add_option("--op", options->op, "Show the design spaces of an operator instead");
  show->add_option("--task", options->task,
                   "Show one task: of a database its best program, of a model its design spaces");
  show->add_option("--search", options->search, "Show one search of a scenario in a database");
  show->add_flag("--trace", options->trace, "With --task: the schedule, step by step");
  show->add_flag("--history", options->history,
                 "With --task or --search: the trials that were improvements");
  show->add_flag("--assembly", options->assembly, "With --task: the code for the processor");
  show->add_option("--chart", options->chart,
                   "Draw how a session, or a search, got on into this SVG file");
  show->add_option("--model-chart", options->model_chart,
                   "Draw how well its cost model predicted into this SVG file");
  show->add_option("--session", options->session, "Which session to draw; default the last");
  show->add_flag("--json", options->json, "Print JSON instead of text");
  options->target.AddTo(*show);
  show->footer(
      "Examples:\n"
      "  bayloom show resnet18.db                     sessions and tasks\n"
      "  bayloom show resnet18.db --task 3            the best program as a loop nest\n"
      "  bayloom show resnet18.db --task 3 --history  how it was found\n"
      "  bayloom show flags.db --search 1             the best configuration of a search\n"
      "  bayloom show resnet18.onnx                   a model's tasks\n"
      "  bayloom show resnet18.db --chart found.svg   best-so-far curves of all tasks\n"
      "  bayloom show --op matmul:512,512,512         what there is to search\n"
      "\n"
      "Operators:\n" +
      OperatorExamples());
  show->callback([options] { Show(*options); });
}

}  // namespace bayloom
