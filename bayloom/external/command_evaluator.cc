#include <nlohmann/json.hpp>
#include <utility>

#include "bayloom/external/evaluator_functions.h"
#include "bayloom/external/surroundings.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/command_trial.h"

namespace bayloom {

EvaluateConfiguration MakeCommandFunction(std::shared_ptr<const Space> space,
                                          const EvaluatorOptions& options,
                                          std::shared_ptr<MissingCommandGuard> guard) {
  auto filler = std::make_shared<CommandFiller>(space, options);
  return
      [space = std::move(space), filler = std::move(filler), json_input = options.json_input,
       answer = options.answer, guard = std::move(guard)](const Configuration& configuration, const std::stop_token& stop) {
        Command command = filler->Fill(configuration);
        if (json_input) command.input = ToJson(*space, configuration).dump() + "\n";
        return TryCommand(
            command, [&](const std::string& output) { return ParseAnswer(output, answer); }, stop, *guard);
      };
}

}  // namespace bayloom
