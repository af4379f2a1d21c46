// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/partial_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/report/format.h"

namespace bayloom::cli {
namespace {

constexpr int kPlanVersion = 1;
/// Names of a list that are printed.
constexpr size_t kMaxListed = 3;

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

nlohmann::json ToJson(const std::vector<graph::StepTensor>& tensors) {
  nlohmann::json json = nlohmann::json::array();
  for (const graph::StepTensor& tensor : tensors) {
    nlohmann::json described = {{"name", tensor.name}, {"type", nullptr}, {"shape", nullptr}};
    if (!tensor.type.empty()) described["type"] = tensor.type;
    if (tensor.shape) described["shape"] = *tensor.shape;
    json.push_back(std::move(described));
  }
  return json;
}

nlohmann::json ToJson(const std::vector<graph::LeftNode>& nodes) {
  nlohmann::json json = nlohmann::json::array();
  for (const graph::LeftNode& node : nodes) {
    json.push_back({{"node", node.node},
                    {"operator", node.op},
                    {"version", node.version},
                    {"reason", node.reason}});
  }
  return json;
}

std::string Listed(std::vector<std::string> names) {
  const bool is_cut = names.size() > kMaxListed;
  names.resize(std::min(names.size(), kMaxListed));
  return base::SingleLine(fmt::format("{}{}", fmt::join(names, ", "), is_cut ? ", ..." : ""), 100);
}

std::string NamesOf(const std::vector<graph::StepTensor>& tensors) {
  std::vector<std::string> names;
  for (const graph::StepTensor& tensor : tensors) names.push_back(tensor.name);
  return Listed(std::move(names));
}

std::string OperatorsOf(const std::vector<graph::LeftNode>& nodes) {
  std::set<std::string> operators;
  for (const graph::LeftNode& node : nodes) operators.insert(node.op);
  return Listed({operators.begin(), operators.end()});
}

}  // namespace

nlohmann::json PlanOf(const graph::PartialNetwork& network, const std::vector<StepFiles>& files) {
  nlohmann::json steps = nlohmann::json::array();
  for (size_t i = 0; i < network.steps.size(); ++i) {
    const graph::PartialStep& step = network.steps[i];
    nlohmann::json described = {{"inputs", ToJson(step.inputs)}, {"outputs", ToJson(step.outputs)}};
    if (files[i].model.empty()) {
      described["kind"] = "library";
      described["library"] = FileName(files[i].package.library);
      described["header"] = FileName(files[i].package.header);
      described["name"] = files[i].symbols;
    } else {
      described["kind"] = "onnx";
      described["model"] = FileName(files[i].model);
      described["nodes"] = ToJson(step.left);
    }
    steps.push_back(std::move(described));
  }
  return {{"bayloom_plan", kPlanVersion},
          {"inputs", ToJson(network.inputs)},
          {"outputs", ToJson(network.outputs)},
          {"steps", std::move(steps)}};
}

report::Table StepTable(const graph::PartialNetwork& network, const std::vector<PartWork>& work) {
  report::Table table({"step", "nodes", "tasks", "work", "reads", "gives"});
  int64_t part = 0;
  for (size_t i = 0; i < network.steps.size(); ++i) {
    const graph::PartialStep& step = network.steps[i];
    const bool is_part = step.left.empty();
    table.AddRow({is_part ? fmt::format("part {}", ++part) : OperatorsOf(step.left), step.nodes,
                  is_part ? fmt::format("{}", work[i].tasks) : "-",
                  is_part ? report::FormatFlops(work[i].flops) : "-", NamesOf(step.inputs),
                  NamesOf(step.outputs)});
  }
  return table;
}

report::Table LeftTable(const graph::PartialNetwork& network) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  for (const graph::PartialStep& step : network.steps) {
    for (const graph::LeftNode& node : step.left) {
      groups[{node.op, node.reason}].push_back(node.node);
    }
  }
  report::Table table({"left out", "nodes", "where", "reason"});
  for (auto& [key, nodes] : groups) {
    const int64_t count = std::ssize(nodes);
    table.AddRow({key.first, count, Listed(std::move(nodes)), key.second});
  }
  return table;
}

std::string Summary(const graph::PartialNetwork& network) {
  const int64_t parts = network.PartCount(), left = network.LeftNodes();
  return fmt::format("{} part{} with {} of {} nodes; {} node{} left to another program", parts,
                     parts == 1 ? "" : "s", network.TranslatedNodes(),
                     network.TranslatedNodes() + left, left, left == 1 ? " is" : "s are");
}

}  // namespace bayloom::cli
