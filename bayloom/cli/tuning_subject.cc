#include "bayloom/cli/tuning_subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "bayloom/base/result.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tensor/operator_shorthand.h"

namespace bayloom {
namespace {

/// The stage that a workload is about: the one with the most points.
const Stage& MainStage(const Workload& workload) {
  const auto points = [](const Stage& stage) {
    double product = 1;
    for (const Iter& iter : stage.iters) product *= static_cast<double>(iter.extent);
    return product;
  };
  return *std::max_element(workload.stages.begin(), workload.stages.end(),
                           [&](const Stage& a, const Stage& b) { return points(a) < points(b); });
}

std::string Extents(const Stage& stage, IterKind kind) {
  std::vector<int64_t> extents;
  for (const Iter& iter : stage.iters) {
    if (iter.kind == kind) extents.push_back(iter.extent);
  }
  return fmt::format("{}", fmt::join(extents, "x"));
}

/// "conv+relu 1x56x56x64 over 3x3x64".
std::string Describe(const Workload& workload) {
  const Stage& stage = MainStage(workload);
  const std::string reduction = Extents(stage, IterKind::kReduction);
  return workload.name + " " + Extents(stage, IterKind::kSpatial) +
         (reduction.empty() ? "" : " over " + reduction);
}

}  // namespace

TuningSubject LoadSubject(const ModelOption& model, const std::string& op) {
  if (model.path.empty() == op.empty()) {
    throw InputError(
        "name a model, such as resnet18.onnx, or an operator, such as --op matmul:512,512,512");
  }
  if (!op.empty()) return {op, {{op, ParseOperator(op), 1}}};
  return {std::filesystem::path(model.path).filename().string(), SpecsOf(model.Load())};
}

std::vector<TaskSpec> SpecsOf(const TaskGraph& network) {
  std::vector<TaskSpec> specs;
  for (const GraphTask& task : network.tasks) {
    specs.push_back({Describe(task.workload), task.workload, static_cast<double>(task.weight)});
  }
  return specs;
}

std::string DefaultDatabase(const ModelOption& model) {
  if (model.path.empty()) return "operators.db";
  return std::filesystem::path(model.path).stem().string() + ".db";
}

}  // namespace bayloom
