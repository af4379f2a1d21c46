#include <map>
#include <string>

#include "bayloom/mapspace/mapper_run.h"
#include "bayloom/optimizer/optimizer.h"

namespace bayloom {

void SearchWithOptimizer(MapperRun& run, std::string_view optimizer_name) {
  const MapperOptions& options = run.options();
  const std::unique_ptr<MappingEncoding> encoding =
      MakeMappingEncoding(run.mapspace(), run.model(), options.tiles, options.orders);
  const std::unique_ptr<Optimizer> optimizer =
      MakeOptimizer(optimizer_name, encoding->space(), {.seed = options.seed});
  // Configurations that differ only in loops that run once are the same mapping: known already.
  std::map<std::string, Outcome> known;
  while (!run.Done()) {
    const std::vector<Configuration> asked = optimizer->Ask(1);
    if (asked.empty()) return;
    const std::optional<Mapping> mapping = encoding->Decode(asked[0]);
    Outcome outcome = Outcome::Infeasible(Verdict::kMemory, "does not fit");
    bool is_fresh = false;
    if (mapping) {
      const auto [place, is_new] =
          known.try_emplace(PrintCompact(*mapping, run.mapspace().problem()));
      if (is_new) place->second = run.Evaluate(*mapping);
      outcome = place->second;
      is_fresh = is_new;
    }
    run.CountDraw(is_fresh);
    optimizer->Tell(asked[0], outcome);
  }
}

}  // namespace bayloom
