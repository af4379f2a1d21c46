// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/shell_text.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/system_error.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/trial/command_trial.h"
#include "bayloom/trial/threaded_evaluator.h"

namespace bayloom::mapspace {
namespace {

using EvaluateMapping = trial::ThreadedEvaluator<Mapping>::Function;

constexpr const char* kStatsFile = "timeloop-model.stats.txt";

/// A place in a command that a file's path is put into.
struct FileHole {
  std::string_view name;
  std::string path;
};

/// The path as its place needs it. Throws InputError where it would have to be quoted and cannot
/// be.
std::string InPlace(const FileHole& hole, base::ShellContext context) {
  if (context != base::ShellContext::kUnsafe) return base::QuotedFor(context, hole.path);
  if (base::QuotedFor(base::ShellContext::kPlain, hole.path) == hole.path) return hole.path;
  throw InputError(
      fmt::format("'{}' stands where nothing can be quoted for a shell, and its path, {}, has to "
                  "be: write v={} "
                  "before it and use \"$v\", or set TMPDIR to another folder",
                  hole.name, base::SingleLine(hole.path, 200), hole.name));
}

/// The shell's text with the paths in place of the holes.
std::string FillPaths(std::string_view text, const std::vector<FileHole>& holes) {
  base::ShellScanner scanner;
  std::string filled;
  while (!text.empty()) {
    size_t at = text.size();
    const FileHole* next = nullptr;
    for (const FileHole& hole : holes) {
      const size_t found = text.find(hole.name);
      if (found >= at) continue;
      at = found;
      next = &hole;
    }
    filled += text.substr(0, at);
    scanner.Feed(text.substr(0, at));
    text.remove_prefix(at);
    if (next == nullptr) break;
    filled += InPlace(*next, scanner.context());
    text.remove_prefix(next->name.size());
  }
  return filled;
}

/// A shell that runs the command on the files of a mapping, in their folder.
base::Command MakeCommand(const Mapping& mapping, const Problem& problem,
                          const Architecture& architecture, const SimulatorOptions& options,
                          const base::ScratchFolder& folder) {
  const std::vector<FileHole> holes = {
      {"{mapping}", folder.Write("mapping.yaml", PrintMappingYaml(mapping, problem, architecture))},
      {"{problem}", folder.Write("problem.yaml", PrintProblemYaml(problem))},
      {"{arch}", folder.Write("arch.yaml", PrintArchitectureYaml(architecture))}};
  base::Command command;
  command.arguments = {"/bin/sh", "-c", FillPaths(options.command, holes)};
  command.timeout_seconds = options.timeout_seconds;
  command.memory_limit_bytes = options.memory_limit_bytes;
  if (options.sandbox) {
    command.sandbox = base::Sandbox{.writable_folder = folder.path()};
    command.environment = {"TMPDIR=" + folder.path()};
  }
  return command;
}

EvaluateMapping MakeFunction(const Problem& problem, const Architecture& architecture,
                             const SimulatorOptions& options) {
  return [=, guard = std::make_shared<trial::MissingCommandGuard>()](const Mapping& mapping,
                                                                     const std::stop_token& stop) {
    const base::ScratchFolder folder;
    return trial::TryCommand(
        MakeCommand(mapping, problem, architecture, options, folder),
        [&](const std::string& output) { return trial::ParseAnswer(output, options.answer); }, stop,
        *guard);
  };
}

EvaluateMapping MakeTimeloopFunction(const Problem& problem, const Architecture& architecture,
                                     MapObjective objective, SimulatorOptions options) {
  options.command = "timeloop-model {problem} {arch} {mapping}";
  return [=, guard = std::make_shared<trial::MissingCommandGuard>()](const Mapping& mapping,
                                                                     const std::stop_token& stop) {
    const base::ScratchFolder folder;
    base::Command command = MakeCommand(mapping, problem, architecture, options, folder);
    command.directory = folder.path();  // where it leaves its files
    const auto read = [&](const std::string&) {
      std::ostringstream stats;
      stats << std::ifstream(folder / kStatsFile).rdbuf();
      const Result<double> value = ParseTimeloopStats(stats.str(), problem.Macs(), objective);
      return value ? trial::Outcome::Feasible(*value)
                   : trial::Outcome::Infeasible(trial::Verdict::kInvalidAnswer,
                                                value.error().message);
    };
    return trial::TryCommand(command, read, stop, *guard);
  };
}

std::unique_ptr<trial::Evaluator<Mapping>> InThreads(const EvaluateMapping& function,
                                                     const SimulatorOptions& options) {
  trial::PrepareWorkers(options.jobs, options.sandbox);
  return std::make_unique<trial::ThreadedEvaluator<Mapping>>(
      std::vector<EvaluateMapping>(static_cast<size_t>(options.jobs), function));
}

/// The energy of all levels' tensors and of the networks between them. The stats round these to a
/// hundredth of a pJ, but the summary to a hundredth of a uJ, which small problems do not reach.
double SumOfEnergies(const std::string& stats) {
  static const std::regex kPart("Energy \\(total\\) *: *([0-9.eE+-]+) pJ");
  double sum = 0;
  for (std::sregex_iterator part(stats.begin(), stats.end(), kPart), end; part != end; ++part) {
    sum += std::stod((*part)[1]);
  }
  return sum;
}

}  // namespace

Result<double> ParseTimeloopStats(const std::string& stats, int64_t macs, MapObjective objective) {
  // Also "Energy (total)" and "Cycles (total)" of single levels, hence the anchors.
  static const std::regex kEnergy("(^|\n)Energy: ([0-9.eE+-]+) uJ");
  static const std::regex kCycles("(^|\n)Cycles: ([0-9]+)");
  std::smatch energy, cycles;
  if (!std::regex_search(stats, energy, kEnergy))
    return Error{"Timeloop's stats have no 'Energy:'"};
  if (!std::regex_search(stats, cycles, kCycles))
    return Error{"Timeloop's stats have no 'Cycles:'"};
  Evaluation evaluation;
  evaluation.macs = macs;
  evaluation.energy_pj = std::stod(energy[2]) * 1e6;
  const double parts = SumOfEnergies(stats);
  const bool is_complete =
      std::abs(parts - evaluation.energy_pj) <= 0.01e6 + 1e-3 * evaluation.energy_pj;
  if (is_complete && parts > 0) evaluation.energy_pj = parts;
  evaluation.cycles = std::stoll(cycles[2]);
  return ValueOf(evaluation, objective);
}

std::unique_ptr<trial::Evaluator<Mapping>> MakeSimulatorEvaluator(const Problem& problem,
                                                                  const Architecture& architecture,
                                                                  const SimulatorOptions& options) {
  return InThreads(MakeFunction(problem, architecture, options), options);
}

std::unique_ptr<trial::Evaluator<Mapping>> MakeTimeloopEvaluator(const Problem& problem,
                                                                 const Architecture& architecture,
                                                                 MapObjective objective,
                                                                 const SimulatorOptions& options) {
  return InThreads(MakeTimeloopFunction(problem, architecture, objective, options), options);
}

}  // namespace bayloom::mapspace
