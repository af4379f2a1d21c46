// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/next_commands.h"
#include "bayloom/cli/options/objective_option.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/options/tune_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/cli/regions.h"
#include "bayloom/codegen/cpu_features.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/report/format.h"
#include "bayloom/report/gain_text.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/target/emulated.h"
#include "bayloom/trial/command_trial.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/measure_evaluator.h"
#include "bayloom/tuning/measured_target.h"
#include "bayloom/tuning/remote_kernels.h"
#include "bayloom/tuning/remote_programs.h"
#include "bayloom/tuning/session_state.h"

namespace bayloom::cli {
namespace {

tuning::TuningSubject LoadSubject(const TuneArguments& arguments) {
  if (arguments.model.path.empty() == arguments.op.empty()) {
    throw InputError(
        "name a model, such as resnet18.onnx, or an operator, such as --op matmul:512,512,512");
  }
  return arguments.op.empty() ? arguments.model.Subject(arguments.target.IsGpu())
                              : tuning::OperatorSubject(arguments.op);
}

/// The tasks with the times of the programs that were chosen in the end.
report::Table TableOf(const tuning::SessionStatus& status, const tuning::TuningGain& gain) {
  std::vector<scheduling::TaskProgress> tasks(status.tasks.begin(), status.tasks.end());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].trials() > 0) tasks[i].best_after_trial.back() = gain.seconds[i];
    tasks[i].weight = gain.weights[i];
  }
  return report::TaskTable(tasks);
}

nlohmann::json ToJson(const tuning::TuningGain& gain) {
  nlohmann::json json = {{"compared_tasks", gain.compared_tasks}};
  if (gain.over_zero_trial) json["over_zero_trial"] = tuning::ToJson(*gain.over_zero_trial);
  if (gain.compared_tasks > 0) {
    json["over_default"] = {{"default", gain.default_seconds},
                            {"tuned", gain.compared_seconds},
                            {"ratio", gain.default_seconds / gain.compared_seconds}};
  }
  if (gain.roofline_share) json["roofline"] = *gain.roofline_share;
  for (const tuning::SizeLoss& loss : gain.by_size) {
    json["by_size"].push_back({{"tuned", loss.seconds}, {"fastest", loss.fastest}});
  }
  if (!gain.regions.empty()) json["regions"] = RegionsJson(gain.regions);
  return json;
}

/// "1.72x over the default programs".
std::string OverDefaultText(const tuning::TuningGain& gain) {
  const auto tasks = static_cast<int>(
      std::ranges::count_if(gain.weights, [](double weight) { return weight > 0; }));
  return fmt::format(
      "{} over the default program{}{}",
      report::FormatRatio(gain.default_seconds / gain.compared_seconds), tasks == 1 ? "" : "s",
      gain.compared_tasks < tasks ? fmt::format(" in {} of {} tasks", gain.compared_tasks, tasks)
                                  : "");
}

/// "one library for all sizes: 2 % longer in the mean than ..., 6 % at the worst size".
std::string LossText(const std::vector<tuning::SizeLoss>& by_size) {
  double logs = 0, worst = 0;
  for (const tuning::SizeLoss& loss : by_size) {
    logs += std::log(loss.seconds / loss.fastest);
    worst = std::max(worst, loss.seconds / loss.fastest - 1);
  }
  return fmt::format(
      "one library for all sizes: {:.1f} % longer in the mean than with each size's fastest "
      "programs, {:.1f} % at the worst of {} sizes, by single trials\n",
      100 * (std::exp(logs / static_cast<double>(by_size.size())) - 1), 100 * worst,
      by_size.size());
}

/// "gain: 1.13x over the zero-trial programs (1.11x to 1.15x; ...), 1.72x over ...; 71 % of ...".
std::string GainText(const tuning::TuningGain& gain) {
  std::vector<std::string> gains, parts;
  if (gain.over_zero_trial) gains.push_back(report::GainText(*gain.over_zero_trial));
  if (gain.compared_tasks > 0) gains.push_back(OverDefaultText(gain));
  if (!gains.empty()) parts.push_back(fmt::format("gain: {}", fmt::join(gains, ", ")));
  if (gain.roofline_share) {
    parts.push_back(
        fmt::format("{:.0f} % of what the machine can do at best", 100 * *gain.roofline_share));
  }
  std::string text = parts.empty() ? "" : fmt::format("{}\n", fmt::join(parts, "; "));
  if (!gain.by_size.empty()) text += LossText(gain.by_size);
  if (!gain.regions.empty()) text += fmt::format("division: {}\n", RegionsText(gain.regions));
  return text;
}

/// What selects the subject, its records and the target on the command line.
std::vector<std::string> SelectionOf(const TuneArguments& arguments) {
  std::vector<std::string> selection;
  const auto add = [&](const std::string& option, const std::string& value) {
    selection.push_back(option);
    selection.push_back(value);
  };
  if (!arguments.op.empty()) add("--op", arguments.op);
  if (!arguments.model.path.empty()) selection.push_back(arguments.model.path);
  const std::vector<std::string> shapes = arguments.model.shapes.Arguments();
  selection.insert(selection.end(), shapes.begin(), shapes.end());
  const std::vector<std::string> precision = arguments.model.precision.Arguments();
  selection.insert(selection.end(), precision.begin(), precision.end());
  if (arguments.model.partial) selection.push_back("--partial");
  if (arguments.target.threads > 0) add("--threads", std::to_string(arguments.target.threads));
  if (arguments.target.name != "native") add("--target", arguments.target.name);
  if (arguments.database != arguments.model.DefaultDatabase()) add("--db", arguments.database);
  return selection;
}

NextCommands CommandsAfter(const TuneArguments& arguments, const target::Target& target,
                           trial::StopReason reason, int64_t trials) {
  const std::vector<std::string> selection = SelectionOf(arguments);
  const auto with = [&](const std::string& command, const std::vector<std::string>& rest) {
    std::vector<std::string> all = {command};
    all.insert(all.end(), selection.begin(), selection.end());
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  NextCommands next;
  const bool has_programs = trials > 0;
  if (has_programs && !arguments.model.path.empty() && !target::IsEmulated(target)) {
    next.Add(with("compile", {}), "a C library with these programs");
    if (target.kind() == target::TargetKind::kNvidiaGpu || !codegen::MissingFeature(target)) {
      next.Add(with("bench", {"--untuned"}), "time it, operator by operator");
    }
  }
  if (has_programs) {
    next.Add({"show", arguments.database}, "the programs found");
    next.Add({"report", arguments.database}, "how the tuning went");
  }
  std::vector<std::string> budget = {"--resume"};
  if (arguments.sandbox) budget.push_back("--sandbox");
  const std::vector<std::string> workers = arguments.workers.Arguments();
  budget.insert(budget.end(), workers.begin(), workers.end());
  if (trial::CanResume(reason)) {
    if (arguments.trials)
      budget.insert(budget.end(), {"--trials", std::to_string(*arguments.trials)});
    if (!arguments.time.empty()) budget.insert(budget.end(), {"--time", arguments.time});
    if (!arguments.until_gain.empty()) {
      budget.insert(budget.end(), {"--until-gain", arguments.until_gain});
    }
    next.Add(with("tune", budget), "go on from here");
  } else if (reason != trial::StopReason::kExhausted) {
    budget.insert(budget.end(), {"--trials", std::to_string(2 * trials)});
    next.Add(with("tune", budget), "more trials");
  }
  return next;
}

/// The front, or why there is none.
std::string FrontOf(const tuning::Tuning& tuning, const tuning::SessionStatus& status) {
  const auto waiting =
      std::ranges::count_if(status.tasks, [](const scheduling::TaskProgress& task) {
        return task.weight > 0 && std::isinf(task.best());
      });
  if (waiting == 0) return FrontText(tuning.Front(), tuning.objectives());
  return fmt::format(
      "no Pareto front: {} of {} tasks have no program that was tried; {} trials give each one\n\n",
      waiting, status.tasks.size(), status.tasks.size());
}

/// "another minute is expected to gain 0.3 %".
std::string LeftText(std::optional<double> gain_per_minute) {
  if (!gain_per_minute) return "";
  return fmt::format("another minute is expected to gain {:.1f} %\n", 100 * *gain_per_minute);
}

void PrintResult(tuning::Tuning& tuning, trial::StopReason reason, const TuneArguments& arguments) {
  tuning::Session& session = tuning.session();
  const std::optional<double> gain_per_minute = session.GainPerMinute();
  const tuning::SessionStatus status = session.Status();
  const tuning::TuningGain gain = tuning.Gain();
  const report::Table tasks = TableOf(status, gain);
  const bool has_front = tuning.objectives().size() > 1;
  const target::Target& target = session.tasks().front()->space().target();
  const bool is_emulated = target::IsEmulated(target);
  if (arguments.json) {
    nlohmann::json shown = {{"session", session.id()},
                            {"end", trial::ToString(reason)},
                            {"trials", status.trials},
                            {"seconds", status.seconds},
                            {"overhead", status.phases.OverheadShare()},
                            {"phases", tuning::ToJson(status.phases)},
                            {"total", gain.total_seconds},
                            {"gain", ToJson(gain)},
                            {"tasks", tasks.Json()}};
    if (gain_per_minute) shown["expected_gain_per_minute"] = *gain_per_minute;
    if (const std::optional<tuning::TrialPrior>& prior = tuning.prior()) {
      shown["prior"] = {{"trials", prior->stored.trials}, {"tasks", prior->stored.tasks}};
    }
    if (has_front) shown["front"] = FrontJson(tuning.Front(), tuning.objectives());
    if (is_emulated) shown["emulated"] = true;
    arguments.model.precision.AddTo(shown);
    fmt::print("{}\n", report::JsonText(shown));
    return;
  }
  fmt::print("\n{}\n{}{}: {}\n{}{}{}", tasks.Text(), has_front ? FrontOf(tuning, status) : "",
             DescribeEnd(reason), report::SummaryLine(status), is_emulated ? "" : GainText(gain),
             is_emulated ? "" : LeftText(gain_per_minute),
             CommandsAfter(arguments, target, reason, status.trials).Text());
}

/// The target with its machine model, which takes seconds where none is known.
target::Target MeasuredTargetFor(const target::Target& target, record::Store& store,
                                 tuning::UserStore& user_store) {
  tuning::MeasuringNotices notices;
  notices.measuring = [&] {
    Say("Measuring this machine, once for {}: 5 to 25 seconds, before the time of the tuning\n",
        user_store.is_open() ? "all models" : base::SingleLine(store.path(), 200));
  };
  notices.disturbed = [](const std::string& busy) {
    Say("{}; what is estimated of programs may be wrong for these records\n", busy);
  };
  return tuning::MeasuredTarget(store, user_store, target, notices);
}

/// What earlier sessions of the database have decided on the precision.
void ReadPrecision(TuneArguments& arguments) {
  std::error_code no_file;  // what is wrong with a name is said of the model's
  if (arguments.model.path.empty() || !std::filesystem::exists(arguments.database, no_file)) return;
  record::Store store(arguments.database, record::Store::Mode::kReadOnly);
  PrecisionOption& precision = arguments.model.precision;
  precision.Learn(store);
  if (arguments.options.resume) precision.Resume(store, arguments.model.SubjectName());
}

/// Throws InputError for what is told to each worker instead.
void CheckForWorkers(const TuneArguments& arguments, const remote::Report& hello) {
  const std::string option = arguments.sandbox                   ? "--sandbox"
                             : !hello.compiles                   ? ""
                             : arguments.target.threads > 0      ? "--threads"
                             : arguments.target.name != "native" ? "--target"
                                                                 : "";
  if (!option.empty()) {
    throw InputError(fmt::format("{0}: say it to each worker, 'bayloom worker {0} ...'", option));
  }
}

/// What code is made for, where that is not asked of the workers: they run what is compiled here.
std::optional<target::Target> TargetNamedFor(const remote::WorkerPool& workers,
                                             TargetOption& option) {
  if (workers.hello().compiles) return std::nullopt;
  target::Target target = tuning::KernelTarget(option.name, option.threads, workers.hello());
  option.threads = target.cores;  // as the commands that come next have to say it
  return target;
}

std::unique_ptr<tuning::ProgramEvaluator> EvaluatorHere(const target::Target& target,
                                                        bool sandbox) {
  measure::MeasureOptions options;
  options.runner.sandbox = sandbox;
  return std::make_unique<tuning::MeasureEvaluator>(target, options);
}

std::unique_ptr<tuning::ProgramEvaluator> EvaluatorOn(remote::WorkerPool& workers,
                                                      const target::Target& target) {
  if (workers.hello().compiles) {
    return std::make_unique<tuning::RemoteProgramEvaluator>(workers, target);
  }
  return std::make_unique<tuning::RemoteKernelEvaluator>(workers, target);
}

void Tune(TuneArguments arguments) {
  if (arguments.database.empty()) arguments.database = arguments.model.DefaultDatabase();
  ReadPrecision(arguments);
  const tuning::TuningSubject subject = LoadSubject(arguments);
  tuning::TuneOptions options = arguments.Options();
  std::unique_ptr<remote::WorkerPool> workers;
  std::optional<target::Target> wanted;
  if (arguments.workers.empty()) {
    wanted = arguments.target.Resolve();
    trial::PrepareWorkers(/*jobs=*/1, arguments.sandbox);
  } else {
    workers = arguments.workers.Connect();
    CheckForWorkers(arguments, workers->hello());
    wanted = TargetNamedFor(*workers, arguments.target);
  }
  record::Store store(arguments.database);
  tuning::UserStore user_store = arguments.store.Open();
  const target::Target target = !workers ? MeasuredTargetFor(*wanted, store, user_store)
                                : wanted ? store.TargetOf(store.AddTarget(*wanted))
                                         : TargetOfWorkers(*workers, store);
  std::optional<measure::LoadMonitor> load;
  if (!workers) load.emplace(measure::LoadMonitorOptions{.threads = target.cores});
  const std::unique_ptr<tuning::ProgramEvaluator> evaluator =
      workers ? EvaluatorOn(*workers, target) : EvaluatorHere(target, arguments.sandbox);
  options.user_store = &user_store;
  tuning::Tuning tuning(subject, target, store, *evaluator, options);
  tuning::Session& session = tuning.session();
  Say("{} session {}: {} task{} of {} on {} with {} threads, records in {}\n",
      tuning.resumed() ? "Resuming" : "Beginning", session.id(), session.tasks().size(),
      session.tasks().size() == 1 ? "" : "s", base::SingleLine(subject.name), target.cpu,
      target.cores, base::SingleLine(arguments.database, 200));
  if (tuning.resumed()) {
    const tuning::SessionStatus before = session.Status();
    Say("It has had {} trials in {}: these count for --trials and --time\n",
        report::FormatCount(before.trials), report::FormatSeconds(before.seconds));
  }
  if (tuning.prior()) {
    const record::StoredModel& prior = tuning.prior()->stored;
    Say("prior: {} trials of {} tasks of earlier tunings\n", report::FormatCount(prior.trials),
        report::FormatCount(prior.tasks));
  }
  report::RunProgress progress(stderr, session.Status(), report::TuningProgress());
  const WorkersOption::NotesInto notes(arguments.workers, progress);
  const trial::StopReason reason = tuning.Run(
      {.on_trial =
           [&](const tuning::SessionStatus& status, const trial::Outcome& last) {
             if (load && load->Look()) progress.Note(measure::DescribeBusy(load->last()));
             progress.Trial(status, last);
           },
       .on_slot = [&](const tuning::SessionStatus& status) { progress.Slot(status); },
       .on_repeat =
           [&](const run::RepeatStatus& status) {
             progress.Activity(fmt::format("timing the best in turns: {} of {} task{} decided",
                                           status.done, status.all, status.all == 1 ? "" : "s"));
           }});
  progress.End();
  if (target::IsEmulated(target)) {
    Say("An emulator ran the programs: these are not a machine's times, and are kept apart\n");
  }
  tuning.Keep();
  if (load && load->WasMostlyBusy()) Say("{}\n", measure::DescribeWasBusy(load->Average()));
  PrintResult(tuning, reason, arguments);
  ThrowIfLost(reason, tuning.lost());
}

}  // namespace

void AddTuneCommand(CLI::App& app) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* tune = app.add_subcommand("tune", "Find fast programs for a network or an operator");
  AddTuneOptions(*arguments, *tune);
  tune->callback([arguments] { Tune(*arguments); });
}

}  // namespace bayloom::cli
