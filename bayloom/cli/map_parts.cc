// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/map_parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bayloom/accelerator/remote_mappings.h"
#include "bayloom/base/file.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/file_name.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/misfit.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/bottleneck_table.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_table.h"
#include "bayloom/report/mapping_units.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/status_line.h"

namespace bayloom::cli {

std::unique_ptr<remote::WorkerPool> Delegate(const MapArguments& arguments,
                                             accelerator::MapOptions& options) {
  if (arguments.workers.empty()) return nullptr;
  std::unique_ptr<remote::WorkerPool> pool = arguments.workers.Connect();
  options.make_evaluator = [&pool = *pool](const mapspace::AnalyticalModel& model,
                                           const accelerator::MapOptions& of) {
    return accelerator::MakeRemoteMappingEvaluator(pool, model, of);
  };
  return pool;
}

trial::StopReason RunWithProgress(accelerator::NetworkMapping& run, const WorkersOption& workers) {
  report::RunProgress progress(stderr, run.Status(), report::MappingProgress(run));
  const WorkersOption::NotesInto notes(workers, progress);
  const trial::StopReason reason = run.Run(progress.Observer());
  progress.End();
  return reason;
}

std::string WhyUnmapped(const accelerator::NetworkMapping::Layer& layer) {
  const std::string& failure = layer.search->result().failure;
  if (!failure.empty()) return "the last failed: " + failure;
  std::string reason = mapspace::WhyNoneFits(*layer.mapspace, *layer.model);
  return reason.empty() ? mapspace::WhyFewFit(*layer.mapspace, *layer.model) : reason;
}

void FailWithoutMapping(const accelerator::NetworkMapping::Layer& layer) {
  throw CheckFailed("no mapping was found that fits and can be evaluated; " + WhyUnmapped(layer));
}

WhyText ExplainMappings(std::span<const accelerator::NetworkLayer> layers,
                        const mapspace::Architecture& architecture,
                        std::span<const mapspace::Directive> constraints,
                        const accelerator::MapOptions& options,
                        std::span<const std::optional<mapspace::Mapping>> known,
                        std::span<const accelerator::PartCost> parts) {
  report::StatusLine line(stderr);
  const std::vector<accelerator::Doubling> doublings = accelerator::DoubleParts(
      layers, architecture, constraints, options, known, [&](int done, int all) {
        line.Show(fmt::format("why: {} of {} accelerators mapped", done, all));
      });
  line.Clear();
  report::KeptResult why;
  why.parts = report::WhyParts(parts, doublings, options.search.objectives[0]);
  return {"\n" + why.Text(), report::WhyJson(parts, doublings)};
}

std::string FormatValueOf(const MapArguments& arguments, double value) {
  return arguments.evaluator == "model" ? report::FormatMapValue(arguments.objectives[0], value)
                                        : report::FormatValue(value);
}

void DeliverMapping(const mapspace::Mapping& mapping, double value,
                    const mapspace::AnalyticalModel& model, const MapArguments& arguments,
                    nlohmann::json about) {
  const mapspace::Problem& problem = model.problem();
  const mapspace::Architecture& architecture = model.architecture();
  const mapspace::Evaluation evaluation = model.Evaluate(mapping);
  const auto sparse = model.EvaluateSparse(mapping);
  if (!arguments.out.empty()) {
    base::WriteFile(arguments.out, mapspace::PrintMappingYaml(mapping, problem, architecture));
  }
  if (arguments.json) {
    about["objective"] = arguments.Options(1).ObjectiveNames();
    about["value"] = value;
    about["problem"] = problem.Describe();
    about["architecture"] = architecture.name;
    about["mapping"] = mapspace::ToJson(mapping, problem, architecture);
    about["model"] = mapspace::ToJson(evaluation, mapping, problem, architecture);
    if (sparse) about["sparse"] = mapspace::ToJson(*sparse, mapping, problem, architecture);
    fmt::print("{}\n", report::JsonText(about));
    return;
  }
  const bool is_model = arguments.evaluator == "model";
  fmt::print("{}\n{}\n", report::InLines(mapspace::PrintLoopNest(mapping, problem, architecture)),
             report::TrafficTable(evaluation, mapping, problem, architecture).Text());
  if (sparse) {
    fmt::print("{}\n{}\n", report::SparseTable(*sparse, mapping, problem, architecture).Text(),
               report::ComputesLine(*sparse));
  }
  if (!is_model) {
    fmt::print("evaluator: {} {}\nbuilt-in model: ", arguments.objectives[0],
               report::FormatValue(value));
  }
  fmt::print("{}\n", report::EvaluationLine(evaluation));
}

void WriteMappedLayer(const std::string& folder, int number, const std::string& name,
                      const mapspace::Problem& problem,
                      const std::optional<mapspace::Mapping>& mapping,
                      const mapspace::Architecture& architecture) {
  const std::string file = fmt::format("{}/{:02}-{}", folder, number, FileNameOf(name));
  base::WriteFile(file + ".problem.yaml", mapspace::PrintProblemYaml(problem));
  if (!mapping) return;
  base::WriteFile(file + ".mapping.yaml",
                  mapspace::PrintMappingYaml(*mapping, problem, architecture));
}

}  // namespace bayloom::cli
