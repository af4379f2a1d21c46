#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bayloom/mapspace/model.h"
#include "bayloom/space/outcome.h"

namespace bayloom {

/// What is minimized.
enum class MapObjective : uint8_t {
  kEnergy,       ///< pJ per multiply-accumulate
  kDelay,        ///< cycles
  kEnergyDelay,  ///< pJ times cycles
};

/// "energy", "delay", "edp".
std::string_view ToString(MapObjective objective);
/// Throws InputError naming them.
MapObjective ParseMapObjective(std::string_view text);
double ValueOf(const Evaluation& evaluation, MapObjective objective);

/// Answers with the value of a mapping, or that it is infeasible and why.
class MappingEvaluator {
 public:
  virtual ~MappingEvaluator() = default;
  virtual Outcome Evaluate(const Mapping& mapping) = 0;
};

/// By the model in this process, which must outlive the evaluator.
std::unique_ptr<MappingEvaluator> MakeModelEvaluator(const AnalyticalModel& model,
                                                     MapObjective objective);

struct CommandOptions {
  /// Run by the shell with {mapping}, {problem} and {arch} replaced by files of Timeloop's YAML,
  /// which are removed afterwards. The last number it prints is the value.
  std::string command;
  double timeout_seconds = 600;
  /// Whether it runs in the folder of those files, with what it leaves there removed, too; else
  /// where this process does.
  bool in_scratch_folder = false;
};

/// By any simulator. A command that fails, prints no number or takes too long makes the mapping
/// infeasible; of one that does not exist Evaluate throws InputError.
std::unique_ptr<MappingEvaluator> MakeCommandEvaluator(const Problem& problem,
                                                       const Architecture& architecture,
                                                       const CommandOptions& options);

/// By `timeloop-model`, which must be in the PATH; reads what it writes as
/// timeloop-model.stats.txt.
std::unique_ptr<MappingEvaluator> MakeTimeloopEvaluator(const Problem& problem,
                                                        const Architecture& architecture,
                                                        MapObjective objective,
                                                        double timeout_seconds);

/// The value in the summary of Timeloop's stats ("Cycles: 64", "Energy: 1.50 uJ"), the energy to
/// all digits of its parts where these are there; an error naming the line that is missing.
Result<double> ParseTimeloopStats(const std::string& stats, int64_t macs, MapObjective objective);

}  // namespace bayloom
