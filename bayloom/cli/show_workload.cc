#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/cli/show.h"
#include "bayloom/report/format.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/sketch/plain_schedule.h"

namespace bayloom {
namespace {

void PrintAsJson(const SpaceGenerator& generator) {
  nlohmann::json spaces = nlohmann::json::array();
  for (const Trace& space : generator.spaces()) spaces.push_back(space.ToJson());
  const Workload& workload = generator.workload();
  const nlohmann::json shown = {
      {"workload", Print(workload)},
      {"flops", workload.Flops()},
      {"untuned", Print(PlainSchedule(generator.workload(), generator.target()))},
      {"spaces", spaces}};
  fmt::print("{}\n", shown.dump(2));
}

}  // namespace

void ShowWorkload(const Workload& workload, const ShowOptions& options) {
  const SpaceGenerator generator(workload, options.target.Resolve());
  if (options.json) return PrintAsJson(generator);
  fmt::print("{}\n{} a run\n", Print(generator.workload()),
             FormatFlops(generator.workload().Flops()));
  fmt::print("\nUntuned:\n\n{}", Print(PlainSchedule(generator.workload(), generator.target())));
  int number = 0;
  for (const Trace& space : generator.spaces()) {
    fmt::print("\nDesign space {} of {}, {} open decisions:\n\n{}", ++number,
               generator.spaces().size(), space.SamplingSteps().size(), space.Print());
  }
}

}  // namespace bayloom
