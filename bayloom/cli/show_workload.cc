// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/cli/show.h"
#include "bayloom/report/format.h"
#include "bayloom/report/printable.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/design_space.h"

namespace bayloom::cli {
namespace {

void PrintAsJson(const sketch::SpaceGenerator& generator) {
  nlohmann::json spaces = nlohmann::json::array();
  for (const tensor::Trace& space : generator.spaces()) spaces.push_back(space.ToJson());
  const tensor::Workload& workload = generator.workload();
  const nlohmann::json shown = {
      {"workload", tensor::Print(workload)},
      {"flops", workload.Flops()},
      {"default", tensor::Print(sketch::DefaultSchedule(generator.workload(), generator.target()))},
      {"spaces", spaces}};
  fmt::print("{}\n", report::JsonText(shown));
}

}  // namespace

void ShowWorkload(const tensor::Workload& workload, const ShowOptions& options) {
  const sketch::SpaceGenerator generator(workload, options.target.Named());
  if (options.json) return PrintAsJson(generator);
  fmt::print("{}\n{} a run\n", tensor::Print(generator.workload()),
             report::FormatFlops(generator.workload().Flops()));
  fmt::print("\nDefault program:\n\n{}",
             tensor::Print(sketch::DefaultSchedule(generator.workload(), generator.target())));
  int number = 0;
  for (const tensor::Trace& space : generator.spaces()) {
    fmt::print("\nDesign space {} of {}, {} open decisions:\n\n{}", ++number,
               generator.spaces().size(), space.SamplingSteps().size(), space.Print());
  }
}

}  // namespace bayloom::cli
