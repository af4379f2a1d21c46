#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <system_error>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/base/subprocess.h"
#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom {
namespace {

/// A folder for the files of one run, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bayloom-map-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "cannot make " + pattern);
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Writes a file and gives its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ + "/" + name).rdbuf();
    return text.str();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string Replace(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// The last number that stands by itself in a text.
Result<double> LastNumber(const std::string& text) {
  std::istringstream words(text);
  Result<double> last = Error{"the command printed no number"};
  for (std::string word; words >> word;) {
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end == '\0') last = number;
  }
  return last;
}

/// The last line of a text that is not empty, or nothing.
std::string LastLine(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  return last;
}

/// How the command ended and the last that it said.
std::string DescribeFailure(const ExitStatus& ended, const std::string& output) {
  const std::string last = LastLine(output);
  return "the command ended with " + ended.Describe() + (last.empty() ? "" : ": " + last);
}

/// What the shell says with.
constexpr int kCommandNotFound = 127;

/// Runs a command on files of Timeloop's and reads the value from what it leaves.
class FileEvaluator : public MappingEvaluator {
 public:
  FileEvaluator(const Problem& problem, const Architecture& architecture,
                const CommandOptions& options)
      : problem_(problem), architecture_(architecture), options_(options) {}

  Outcome Evaluate(const Mapping& mapping) override {
    const ScratchFolder folder;
    std::string command = options_.command;
    command =
        Replace(command, "{mapping}",
                folder.Write("mapping.yaml", PrintMappingYaml(mapping, problem_, architecture_)));
    command =
        Replace(command, "{problem}", folder.Write("problem.yaml", PrintProblemYaml(problem_)));
    command =
        Replace(command, "{arch}", folder.Write("arch.yaml", PrintArchitectureYaml(architecture_)));
    const double begin = MonotonicSeconds();
    SubprocessOptions process_options;
    process_options.arguments = {"/bin/sh",
                                 "-c",
                                 "exec /bin/sh \"$1\" > \"$2\" 2>&1",
                                 "sh",
                                 folder.Write("command.sh", command + "\n"),
                                 folder.path() + "/output.txt"};
    if (options_.in_scratch_folder) process_options.directory = folder.path();
    Result<Subprocess> started = Subprocess::Start(process_options);
    if (!started) return Outcome::Infeasible(Verdict::kCrash, started.error().message);
    Subprocess process = *std::move(started);
    const std::optional<ExitStatus> ended = process.Wait(options_.timeout_seconds);
    Outcome outcome;
    if (!ended) {
      process.Kill();
      outcome = Outcome::Infeasible(Verdict::kTimeout,
                                    fmt::format("no answer within {} s", options_.timeout_seconds));
    } else if (!ended->signaled && ended->code == kCommandNotFound) {
      throw InputError("cannot run the evaluator: " + LastLine(folder.Read("output.txt")));
    } else if (!ended->Success()) {
      outcome =
          Outcome::Infeasible(Verdict::kCrash, DescribeFailure(*ended, folder.Read("output.txt")));
    } else if (const Result<double> value = ReadValue(folder); !value) {
      outcome = Outcome::Infeasible(Verdict::kWrongOutput, value.error().message);
    } else {
      outcome.value = *value;
    }
    outcome.measure_seconds = MonotonicSeconds() - begin;
    return outcome;
  }

 protected:
  virtual Result<double> ReadValue(const ScratchFolder& folder) const {
    return LastNumber(folder.Read("output.txt"));
  }

  Problem problem_;
  Architecture architecture_;

 private:
  CommandOptions options_;
};

class TimeloopEvaluator final : public FileEvaluator {
 public:
  TimeloopEvaluator(const Problem& problem, const Architecture& architecture,
                    MapObjective objective, double timeout_seconds)
      : FileEvaluator(problem, architecture,
                      {.command = "timeloop-model {problem} {arch} {mapping}",
                       .timeout_seconds = timeout_seconds,
                       .in_scratch_folder = true}),
        objective_(objective) {}

 protected:
  Result<double> ReadValue(const ScratchFolder& folder) const override {
    return ParseTimeloopStats(folder.Read("timeloop-model.stats.txt"), problem_.Macs(), objective_);
  }

 private:
  MapObjective objective_;
};

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
    return Error{"Timeloop's stats tell no 'Energy:'"};
  if (!std::regex_search(stats, cycles, kCycles))
    return Error{"Timeloop's stats tell no 'Cycles:'"};
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

std::unique_ptr<MappingEvaluator> MakeCommandEvaluator(const Problem& problem,
                                                       const Architecture& architecture,
                                                       const CommandOptions& options) {
  return std::make_unique<FileEvaluator>(problem, architecture, options);
}

std::unique_ptr<MappingEvaluator> MakeTimeloopEvaluator(const Problem& problem,
                                                        const Architecture& architecture,
                                                        MapObjective objective,
                                                        double timeout_seconds) {
  return std::make_unique<TimeloopEvaluator>(problem, architecture, objective, timeout_seconds);
}

}  // namespace bayloom
