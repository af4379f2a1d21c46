// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/import_notes.h"
#include "bayloom/graph/import/left_model.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/node_schema.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/partial_import.h"
#include "bayloom/graph/import/small_types.h"
#include "bayloom/graph/import/value_types.h"
#include "bayloom/graph/tasks/graph_part.h"

namespace bayloom::graph {
namespace {

/// A part with less of all parts' work than this is left out.
constexpr double kMinShare = 1e-3;

/// Steps by number: nodes that are left out run in even ones, parts are odd.
constexpr int kNoStep = -1;
bool IsPart(int step) { return step % 2 == 1; }

/// The type of tensors as people know it.
std::string StepTypeName(int type) {
  const std::string name = ElementTypeName(type);
  if (name == "float") return "float32";
  return name == "double" ? "float64" : name;
}

class PartialPlanner {
 public:
  /// All have to live as long as this.
  PartialPlanner(const std::string& path, const onnx::ModelProto& model,
                 const ImportOptions& options)
      : path_(path), options_(options), model_(model) {}

  PartialNetwork Plan() {
    do {
      import_.nodes.clear();
      ImportPartially(path_, model_, options_, import_);
      writer_.emplace(model_, import_, DataFolderOf(path_));
      ListNodes();
      AssignSteps();
      FindBorders();
      Extract();
    } while (LeaveWhatCannotPass() || LeaveSmallParts());
    return Build();
  }

 private:
  const NamedValue* Find(const std::string& name) const {
    const auto found = import_.values.find(name);
    return found == import_.values.end() ? nullptr : &found->second;
  }

  /// The nodes of the import: those whose results an output of the model depends on.
  void ListNodes() {
    for (const auto& output : model_.graph().output()) {
      if (Find(output.name())) continue;
      throw InputError(fmt::format("output '{}' is not defined", Printable(output.name())));
    }
    nodes_.clear();
    for (const PartialNode& node : import_.nodes) nodes_.push_back(&node);
  }

  /// Every node runs as early as it can: in the step of what it reads, or the next one of its kind.
  void AssignSteps() {
    step_of_node_.assign(nodes_.size(), kNoStep);
    step_of_value_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const onnx::NodeProto& node = *nodes_[i]->node;
      const bool is_left = !nodes_[i]->reason.empty();
      int step = is_left ? 0 : 1;
      ForEachNameRead(node, [&](const std::string& name) {
        const auto read = step_of_value_.find(name);
        if (read == step_of_value_.end()) return;
        step = std::max(step, read->second + (IsPart(read->second) == is_left ? 1 : 0));
      });
      for (const std::string& name : node.output()) {
        if (name.empty() || (!is_left && writer_->IsConstant(name))) continue;
        step_of_value_[name] = step;
        step_of_node_[i] = step;
      }
      if (is_left) step_of_node_[i] = step;
    }
  }

  /// Results that other steps or the user need, by step.
  void FindBorders() {
    passing_.clear();
    for (const auto& output : model_.graph().output()) passing_.insert(output.name());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const bool is_left = !nodes_[i]->reason.empty();
      ForEachNameRead(*nodes_[i]->node, [&](const std::string& name) {
        const auto read = step_of_value_.find(name);
        const bool passes = read == step_of_value_.end() ? is_left  // a constant
                                                         : read->second != step_of_node_[i];
        if (passes) passing_.insert(name);
      });
    }
    results_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : nodes_[i]->node->output()) {
        const auto step = step_of_value_.find(name);
        if (step != step_of_value_.end() && passing_.contains(name)) {
          results_[step->second].push_back(name);
        }
      }
    }
    AddConstantOutputs();
  }

  /// Outputs of the model that are constants are outputs of the first part.
  void AddConstantOutputs() {
    const auto part =
        std::ranges::find_if(results_, [](const auto& step) { return IsPart(step.first); });
    if (part == results_.end()) return;
    std::set<std::string> added;
    for (const auto& output : model_.graph().output()) {
      const NamedValue* value = Find(output.name());
      const bool is_new = writer_->IsConstant(output.name()) && added.insert(output.name()).second;
      if (is_new && value->tensor) part->second.push_back(output.name());
    }
  }

  /// What keeps a value from passing between steps; empty: it can.
  std::string WhyNoBorder(const std::string& name) const {
    const NamedValue& value = *Find(name);
    if (value.sequence) return "its result is a sequence";
    if (value.type == 0) return "the type of its result is not known";
    const SmallType* small = FindSmallType(value.type);
    return small ? fmt::format("its result is of {}", small->name) : "";
  }

  /// Nodes whose results would have to pass between steps, but cannot, are left out. Returns
  /// whether there are any.
  bool LeaveWhatCannotPass() {
    const size_t left = import_.leave.size();
    for (const PartialNode* node : nodes_) {
      if (!node->reason.empty()) continue;
      for (const std::string& name : node->node->output()) {
        if (!passing_.contains(name)) continue;
        const std::string reason = WhyNoBorder(name);
        if (!reason.empty()) import_.leave.emplace(node->node, reason);
      }
    }
    return import_.leave.size() > left;
  }

  /// The tensor's type in the model, as far as the graph can have it.
  BorderValue BorderOf(const std::string& name) const {
    const NamedValue& value = *Find(name);
    const bool is_known = value.type != 0 && !FindSmallType(value.type);
    return {value.tensor->id(), name, is_known ? DTypeFromOnnx(value.type) : value.tensor->dtype()};
  }

  /// What a part may read: inputs of the model and results of the other steps. Of names of one
  /// value the first.
  std::vector<BorderValue> BordersFor(int part) const {
    std::vector<BorderValue> borders;
    std::unordered_set<ValueId> known;
    const auto add = [&](const std::string& name) {
      const NamedValue* value = Find(name);
      if (!value || !value->tensor || !known.insert(value->tensor->id()).second) return;
      borders.push_back(BorderOf(name));
    };
    for (const std::string& name : InputNames()) add(name);
    for (const auto& [step, names] : results_) {
      if (step >= part) break;
      for (const std::string& name : names) {
        if (!writer_->IsConstant(name)) add(name);
      }
    }
    return borders;
  }

  /// The model's inputs, without those that are constant.
  std::vector<std::string> InputNames() const {
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto* input : InputsWithoutData(model_.graph())) {
      if (!writer_->IsConstant(input->name())) names.push_back(input->name());
    }
    return names;
  }

  void Extract() {
    parts_.clear();
    for (const auto& [step, names] : results_) {
      if (!IsPart(step)) continue;
      std::vector<BorderValue> outputs;
      for (const std::string& name : names) {
        if (Find(name)->tensor) outputs.push_back(BorderOf(name));  // else it is left out next
      }
      const std::string name =
          fmt::format("{}.part{}", Printable(model_.graph().name()), step / 2 + 1);
      parts_.emplace(step, ExtractPart(import_.graph, name, BordersFor(step), outputs));
    }
  }

  /// Parts with hardly any work are left out: calling them would take longer than that. What they
  /// compute is known by type and shape. Returns whether there are any.
  bool LeaveSmallParts() {
    double all = 0;
    for (const auto& [step, part] : parts_) all += static_cast<double>(PointsOf(part.graph));
    const size_t left = import_.leave.size();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto part = parts_.find(step_of_node_[i]);
      if (part == parts_.end() || !nodes_[i]->reason.empty()) continue;
      if (static_cast<double>(PointsOf(part->second.graph)) >= kMinShare * all) continue;
      import_.leave.emplace(nodes_[i]->node, "too little work for a part of its own");
      for (const std::string& name : nodes_[i]->node->output()) {
        const NamedValue* value = Find(name);
        if (!value || !value->tensor || !WhyNoBorder(name).empty()) continue;
        import_.known[name] = {value->type, value->tensor->shape()};
      }
    }
    return import_.leave.size() > left;
  }

  StepTensor Describe(const std::string& name) const {
    StepTensor tensor{name, "", std::nullopt};
    const NamedValue& value = *Find(name);
    tensor.type = StepTypeName(value.type);
    if (value.tensor) tensor.shape = value.tensor->shape();
    return tensor;
  }

  PartialNetwork Build() {
    PartialNetwork network;
    for (const std::string& name : InputNames()) network.inputs.push_back(Describe(name));
    for (const auto& output : model_.graph().output()) {
      network.outputs.push_back(Describe(output.name()));
    }
    int last = 0;
    for (const int step : step_of_node_) last = std::max(last, step);
    for (int step = 0; step <= last; ++step) {
      PartialStep built = IsPart(step) ? BuildPart(step) : BuildLeft(step);
      if (built.nodes > 0) network.steps.push_back(std::move(built));
    }
    if (network.PartCount() == 0) {
      throw InputError(fmt::format("no part can be translated: {}", FirstRefusal()));
    }
    return network;
  }

  std::string FirstRefusal() const {
    for (const PartialNode* node : nodes_) {
      if (node->reason.empty()) continue;
      return fmt::format("node '{}' ({}): {}", Printable(NodeName(*node->node)),
                         QualifiedName(*node->node), node->reason);
    }
    return "there is nothing to compute";
  }

  PartialStep BuildPart(int step) {
    PartialStep built;
    const auto part = parts_.find(step);
    if (part == parts_.end()) return built;
    built.nodes = std::ranges::count(step_of_node_, step);
    for (const std::string& name : part->second.inputs) built.inputs.push_back(Describe(name));
    for (const std::string& name : results_.at(step)) built.outputs.push_back(Describe(name));
    built.part = std::move(part->second.graph);
    return built;
  }

  PartialStep BuildLeft(int step) const {
    PartialStep built;
    std::vector<const onnx::NodeProto*> nodes;
    std::set<std::string> own, known;
    std::vector<std::string> inputs, outputs;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (step_of_node_[i] != step) continue;
      const onnx::NodeProto& node = *nodes_[i]->node;
      nodes.push_back(&node);
      built.left.push_back(
          {Printable(NodeName(node)), QualifiedName(node), nodes_[i]->version, nodes_[i]->reason});
      ForEachNameRead(node, [&](const std::string& name) {
        // Names of inner graphs are no values of this one.
        const bool is_read = !name.empty() && Find(name) && !writer_->IsConstant(name) &&
                             !own.contains(name) && known.insert(name).second;
        if (is_read) inputs.push_back(name);
      });
      own.insert(node.output().begin(), node.output().end());
    }
    const auto results = results_.find(step);
    if (results == results_.end()) return PartialStep();  // nothing needs what they compute
    outputs = results->second;
    built.nodes = std::ssize(nodes);
    for (const std::string& name : inputs) built.inputs.push_back(Describe(name));
    for (const std::string& name : outputs) built.outputs.push_back(Describe(name));
    built.model = writer_->Write(nodes, inputs, outputs);
    return built;
  }

  const std::string& path_;
  const ImportOptions& options_;
  const onnx::ModelProto& model_;
  PartialImport import_;
  std::optional<LeftModelWriter> writer_;
  std::vector<const PartialNode*> nodes_;  // those that are needed, in the order of execution
  std::vector<int> step_of_node_;          // kNoStep: all its results are constants
  std::unordered_map<std::string, int> step_of_value_;  // without inputs and constants
  std::map<int, std::vector<std::string>> results_;     // by step: what others read
  std::unordered_set<std::string> passing_;             // read by another step, or by the user
  std::map<int, GraphPart> parts_;
};

}  // namespace

int64_t PartialNetwork::PartCount() const {
  return std::ranges::count_if(steps,
                               [](const PartialStep& step) { return step.part.has_value(); });
}

int64_t PartialNetwork::TranslatedNodes() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0}, [](int64_t sum, const auto& step) {
    return sum + (step.part ? step.nodes : 0);
  });
}

int64_t PartialNetwork::LeftNodes() const {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0}, [](int64_t sum, const auto& step) {
    return sum + (step.part ? 0 : step.nodes);
  });
}

PartialNetwork ImportPartial(const std::string& path, const ImportOptions& options) {
  const onnx::ModelProto model = ReadModel(path);
  try {
    return PartialPlanner(path, model, options).Plan();
  } catch (...) {
    RethrowNaming(path);
  }
}

}  // namespace bayloom::graph
