#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/base/clock.h"
#include "bayloom/external/evaluators.h"
#include "bayloom/external/surroundings.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

class CommandEvaluator final : public ConfigurationEvaluator {
 public:
  CommandEvaluator(std::shared_ptr<const Space> space, const EvaluatorOptions& options)
      : space_(space), options_(options), filler_(std::move(space), options) {}

  std::optional<Outcome> Evaluate(const Configuration& configuration,
                                  const std::stop_token& stop) override {
    ProgramCall call = filler_.Call(configuration);
    if (options_.json_input) call.input = ToJson(*space_, configuration).dump() + "\n";
    const double begun = MonotonicSeconds();
    const ProgramRun run = RunProgram(call, stop);
    if (run.end == ProgramRun::End::kStopped) return std::nullopt;
    Outcome outcome = OutcomeOf(run);
    outcome.measure_seconds = MonotonicSeconds() - begun;
    return outcome;
  }

 private:
  Outcome OutcomeOf(const ProgramRun& run) const {
    if (run.end == ProgramRun::End::kNotStarted) {
      return Outcome::Infeasible(Verdict::kCrash, run.problem);
    }
    if (run.end == ProgramRun::End::kTimedOut) {
      return Outcome::Infeasible(Verdict::kTimeout,
                                 fmt::format("still running after {:g} s", options_.timeout));
    }
    if (!run.status.Success()) {
      const std::string words = LastWords(run.errors);
      return Outcome::Infeasible(Verdict::kCrash, fmt::format("{}{}{}", run.status.Describe(),
                                                              words.empty() ? "" : ": ", words));
    }
    return ParseAnswer(run.output, options_.answer);
  }

  std::shared_ptr<const Space> space_;
  EvaluatorOptions options_;
  CommandFiller filler_;
};

}  // namespace

std::unique_ptr<ConfigurationEvaluator> MakeCommandEvaluator(std::shared_ptr<const Space> space,
                                                             const EvaluatorOptions& options) {
  return std::make_unique<CommandEvaluator>(std::move(space), options);
}

}  // namespace bayloom
