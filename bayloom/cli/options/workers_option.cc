// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/workers_option.h"

#include <CLI/App.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/run_command.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/help.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/target/target_check.h"
#include "bayloom/target/target_json.h"

namespace bayloom::cli {

namespace {

/// The commands that have machines of a cluster of Ray work, as its Python module gives them.
std::vector<std::string> RayCommands(const std::string& address, const std::string& worker) {
  const char* const python = std::getenv("BAYLOOM_PYTHON");
  base::Command command;
  command.arguments = {python != nullptr ? python : "python3",
                       "-m",
                       "bayloom.ray_pool",
                       "commands",
                       "--address",
                       address,
                       "--command",
                       worker};
  const base::CommandResult result = base::RunCommand(command);
  if (result.end != base::CommandResult::End::kExited || !result.status.Success()) {
    const std::string why =
        result.start_error.empty() ? base::LastLine(result.error_output) : result.start_error;
    throw InputError("--ray: " + why +
                     " (it needs the Python package bayloom[ray]; BAYLOOM_PYTHON names a Python)");
  }
  std::string_view output = result.output;
  while (output.ends_with('\n')) output.remove_suffix(1);
  const nlohmann::json commands = base::ParseJsonOrDiscard(output.substr(output.rfind('\n') + 1));
  std::vector<std::string> all;
  for (const nlohmann::json& each : commands.is_array() ? commands : nlohmann::json::array()) {
    if (each.is_string()) all.push_back(each.get<std::string>());
  }
  return all;
}

/// Does what may be stopped; a run that was is none that was given bad input.
template <typename Work>
auto UnlessStopped(Work&& work) {
  try {
    return work();
  } catch (const InputError&) {
    if (StopSeen()) throw CheckFailed("stopped before the workers were ready");
    throw;
  }
}

void SayLine(const std::string& line) { Say("{}\n", line); }

}  // namespace

WorkersOption::WorkersOption()
    : note_(std::make_shared<std::function<void(const std::string&)>>(SayLine)) {}

WorkersOption::NotesInto::NotesInto(const WorkersOption& workers, report::RunProgress& progress)
    : workers_(workers) {
  *workers_.note_ = [&progress](const std::string& line) { progress.Note(line); };
}
WorkersOption::NotesInto::~NotesInto() { *workers_.note_ = SayLine; }

void WorkersOption::AddTo(CLI::App& command) {
  command
      .add_option(
          "--workers", commands,
          WithDetails("Try candidates elsewhere: 'ssh board bayloom worker'", "; may be repeated"))
      ->option_text("COMMAND")
      ->allow_extra_args(false);
  Advanced(command
               .add_option("--ray", ray,
                           "Try candidates on the machines of this cluster of Ray, e.g. auto")
               ->option_text("ADDRESS"));
  Advanced(command
               .add_option("--ray-command", ray_command,
                           "What each machine of --ray runs, e.g. 'bayloom worker --threads 4'")
               ->option_text("COMMAND")
               ->capture_default_str());
}

std::vector<std::string> WorkersOption::Arguments() const {
  std::vector<std::string> arguments;
  for (const std::string& each : commands) arguments.insert(arguments.end(), {"--workers", each});
  if (!ray.empty()) {
    arguments.insert(arguments.end(), {"--ray", ray, "--ray-command", ray_command});
  }
  return arguments;
}

std::unique_ptr<remote::WorkerPool> WorkersOption::Connect() const {
  remote::PoolOptions options;
  options.commands = commands;
  if (!ray.empty()) {
    const std::vector<std::string> more = RayCommands(ray, ray_command);
    options.commands.insert(options.commands.end(), more.begin(), more.end());
  }
  const size_t wanted = options.commands.size();
  options.on_notice = [say = note_](const std::string& line) { (*say)(line); };
  options.check_machine = [](const nlohmann::json& json) -> Status {
    const Result<target::Target> target = target::CheckedTarget(json);
    return target ? Ok() : Status(target.error());
  };
  options.stop = StopSeen;
  auto pool =
      UnlessStopped([&] { return std::make_unique<remote::WorkerPool>(std::move(options)); });
  Say("{} of {} worker{} ready: {}\n", pool->workers(), wanted, wanted == 1 ? "" : "s",
      pool->hello().identity);
  return pool;
}

target::Target TargetOfWorkers(remote::WorkerPool& pool, record::Store& store) {
  const target::Target described = target::TargetFromJson(pool.hello().body);
  if (const auto known = store.FindTarget(described)) return store.TargetOf(*known);
  Say("Measuring the workers' machine, once for {}\n", base::SingleLine(store.path(), 200));
  const nlohmann::json measured = UnlessStopped([&] {
    Result<nlohmann::json> machine = pool.MeasureMachine();
    if (machine) return *std::move(machine);
    throw InputError("a worker cannot measure its machine: " + machine.error().message);
  });
  const target::Target target = target::TargetFromJson(measured);
  if (target::HashOf(target) != target::HashOf(described)) {
    throw InputError("a worker has measured another machine than it said it is on");
  }
  return store.TargetOf(store.AddTarget(target));
}

}  // namespace bayloom::cli
