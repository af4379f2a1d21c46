// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import.h"

#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/internal/node_schema.h"
#include "bayloom/graph/internal/onnx_tensor.h"
#include "bayloom/graph/internal/operators/operator.h"
#include "bayloom/graph/internal/wide_floats.h"

namespace bayloom::graph {
namespace {

/// Functions in functions, graphs in graphs: deeper nesting is taken for an endless one.
constexpr int kMaxDepth = 64;
/// Nodes imported in all; unrolled loops and expanded functions count each time.
constexpr int64_t kMaxNodes = 1'000'000;

/// Which version of each operator domain applies.
using OpsetVersions = std::map<std::string, int>;

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

template <typename OpsetImports>
OpsetVersions ReadOpsets(const OpsetImports& imports) {
  OpsetVersions versions;
  for (const auto& import : imports) {
    const int64_t version = import.version();
    versions[DomainOf(import.domain())] = static_cast<int>(std::clamp<int64_t>(version, 0, 1000));
  }
  if (const auto standard = versions.find(""); standard != versions.end()) {
    if (standard->second > kNewestOpset) {
      throw InputError(fmt::format("operator set {} is not supported; supported are {} to {}",
                                   standard->second, kOldestOpset, kNewestOpset));
    }
  }
  return versions;
}

/// Whether an exception says that the model cannot be used: what was refused, shapes that do not
/// fit (tensor/operators.h), constants that cannot be computed, and what ONNX itself refuses. All
/// else is a fault of this program.
bool IsModelAtFault(const std::exception& error) {
  return dynamic_cast<const InputError*>(&error) != nullptr ||
         dynamic_cast<const std::invalid_argument*>(&error) != nullptr ||
         dynamic_cast<const std::domain_error*>(&error) != nullptr ||
         dynamic_cast<const onnx::InferenceError*>(&error) != nullptr ||
         dynamic_cast<const onnx::checker::ValidationError*>(&error) != nullptr;
}

/// Tensors by the names of the graph or function they are in; inner graphs see outer names.
class Scope {
 public:
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

  const tensor::Tensor* Find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->outer_) {
      const auto found = scope->tensors_.find(name);
      if (found != scope->tensors_.end()) return &found->second;
    }
    return nullptr;
  }
  void Define(const std::string& name, tensor::Tensor tensor) {
    if (!tensors_.emplace(name, std::move(tensor)).second) {
      throw InputError(fmt::format("'{}' is defined twice", Printable(name)));
    }
  }
  bool HasOwn(const std::string& name) const { return tensors_.contains(name); }

 private:
  const Scope* outer_;
  std::unordered_map<std::string, tensor::Tensor> tensors_;
};

class Importer {
 public:
  Importer(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options)
      : directory_(std::filesystem::path(path).parent_path().string()),
        model_(model),
        options_(options),
        builder_(Printable(model.graph().name())) {
    for (const auto& function : model.functions()) {
      functions_[{DomainOf(function.domain()), function.name()}] = &function;
    }
  }

  Graph Run() {
    const OpsetVersions opsets = ReadOpsets(model_.opset_import());
    const onnx::GraphProto& graph = model_.graph();
    Scope scope;
    DefineInitializers(graph, scope);
    std::unordered_set<std::string> names;
    for (const auto& input : graph.input()) {
      if (!names.insert(input.name()).second) {
        throw InputError(fmt::format("there are two inputs '{}'", Printable(input.name())));
      }
      if (!scope.HasOwn(input.name())) DefineInput(input, scope);
    }
    CheckOptions();
    ImportNodes(graph.node(), scope, opsets, 0);
    std::vector<GraphOutput> outputs;
    for (const auto& output : graph.output()) {
      const tensor::Tensor tensor = DeclaredOutput(output, Lookup(output.name(), scope, "output"));
      outputs.push_back({Printable(output.name()), tensor.id()});
      if (!builder_.ConstantOf(tensor)) builder_.Rename(tensor, Printable(output.name()));
    }
    if (outputs.empty()) throw InputError("the graph has no outputs");
    return builder_.Build(std::move(outputs));
  }

 private:
  tensor::Tensor Lookup(const std::string& name, const Scope& scope, const char* what) {
    const tensor::Tensor* tensor = scope.Find(name);
    if (!tensor) {
      throw InputError(
          fmt::format("{} '{}' is not defined by any node before", what, Printable(name)));
    }
    return *tensor;
  }

  tensor::Tensor DeclaredOutput(const onnx::ValueInfoProto& output, const tensor::Tensor& tensor) {
    const int declared = output.type().tensor_type().elem_type();
    for (tensor::DType narrow : {tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
      if (declared == DTypeToOnnx(narrow)) return widener_.AsDeclared(tensor, narrow);
    }
    return tensor;
  }

  void DefineInitializers(const onnx::GraphProto& graph, Scope& scope) {
    if (graph.sparse_initializer_size() > 0) {
      throw InputError("sparse initializers are not supported");
    }
    for (const auto& initializer : graph.initializer()) {
      const std::string name = Printable(initializer.name());
      try {
        scope.Define(initializer.name(),
                     builder_.Constant(name, TensorFromOnnx(initializer, directory_)));
      } catch (const InputError& error) {
        throw InputError(fmt::format("initializer '{}': {}", name, error.what()));
      }
    }
  }

  void DefineInput(const onnx::ValueInfoProto& input, Scope& scope) {
    const std::string name = Printable(input.name());
    try {
      if (const auto frozen = options_.frozen_inputs.find(input.name());
          frozen != options_.frozen_inputs.end()) {
        scope.Define(input.name(), builder_.Constant(name, frozen->second));
        return;
      }
      if (!input.type().has_tensor_type()) {
        throw InputError("only tensors are supported, not sequences, maps or optionals");
      }
      const auto& type = input.type().tensor_type();
      const tensor::DType dtype = DTypeFromOnnx(type.elem_type());
      scope.Define(input.name(), builder_.Input(name, dtype, InputShape(input.name(), type)));
    } catch (const OpenShapeError& error) {
      throw OpenShapeError(fmt::format("input '{}': {}", name, error.what()), error.input(),
                           error.shape());
    } catch (const InputError& error) {
      throw InputError(fmt::format("input '{}': {}", name, error.what()));
    }
  }

  std::vector<int64_t> InputShape(const std::string& name,
                                  const onnx::TypeProto::Tensor& type) const {
    const auto given = options_.input_shapes.find(name);
    if (given != options_.input_shapes.end()) {
      const bool wrong_rank =
          type.has_shape() && type.shape().dim_size() != static_cast<int>(given->second.size());
      if (wrong_rank) {
        throw InputError(fmt::format("a shape of {} dimensions was given; the model has {}",
                                     given->second.size(), type.shape().dim_size()));
      }
      return given->second;
    }
    if (!type.has_shape()) throw OpenShapeError("the model gives it no shape", name, "");
    std::vector<int64_t> shape;
    std::string text;
    bool is_open = false;
    for (const auto& dim : type.shape().dim()) {
      const bool is_known = dim.has_dim_value() && dim.dim_value() != -1;
      shape.push_back(is_known ? dim.dim_value() : 1);
      is_open = is_open || !is_known;
      const std::string symbol = dim.dim_param().empty() ? "?" : Printable(dim.dim_param());
      text += (text.empty() ? "" : "x") + (is_known ? std::to_string(dim.dim_value()) : symbol);
    }
    if (is_open) {
      throw OpenShapeError("the model leaves its shape open: " + text, name, text);
    }
    return shape;
  }

  /// A name in the options that the model does not have is a mistake.
  void CheckOptions() const {
    std::set<std::string> names;
    for (const auto& input : model_.graph().input()) names.insert(input.name());
    for (const auto& [name, shape] : options_.input_shapes) {
      if (!names.contains(name)) {
        throw InputError(fmt::format("there is no input '{}' to give a shape to", Printable(name)));
      }
    }
  }

  template <typename Nodes>
  void ImportNodes(const Nodes& nodes, Scope& scope, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxDepth) throw InputError("functions or graphs are nested too deeply");
    for (const onnx::NodeProto& node : nodes) {
      if (++imported_nodes_ > kMaxNodes) {
        throw InputError(fmt::format("more than {} nodes after unrolling", kMaxNodes));
      }
      const auto located = [&](const std::exception& error) {
        return fmt::format("node '{}' ({}): {}", Printable(NodeName(node)),
                           Printable(node.op_type()), error.what());
      };
      try {
        ImportNode(node, scope, opsets, depth);
      } catch (const NodeError&) {
        throw;
      } catch (const SystemError&) {
        throw;
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const RunTimeDependence& error) {
        if (depth > 0) throw;  // the outermost node is the one that people know
        throw RunTimeDependence(located(error), error.inputs());
      } catch (const std::exception& error) {
        if (IsModelAtFault(error)) throw NodeError(located(error));
        throw std::logic_error(located(error));
      }
    }
  }

  /// An error that already names its node.
  class NodeError : public InputError {
    using InputError::InputError;
  };

  static std::string NodeName(const onnx::NodeProto& node) {
    if (!node.name().empty()) return node.name();
    return node.output_size() > 0 ? node.output(0) : "";
  }

  void ImportNode(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets,
                  int depth) {
    const std::string domain = DomainOf(node.domain());
    const auto version = opsets.find(domain);
    if (version == opsets.end()) {
      throw InputError(
          fmt::format("the model imports no operator set for the domain '{}'", Printable(domain)));
    }
    std::vector<std::optional<tensor::Tensor>> inputs;
    for (const std::string& name : node.input()) {
      inputs.push_back(
          name.empty() ? std::nullopt : std::optional(widener_.Widen(Lookup(name, scope, "input"))));
    }
    if (const auto local = functions_.find({domain, node.op_type()}); local != functions_.end()) {
      return ExpandFunction(node, *local->second, ReadOpsets(local->second->opset_import()), inputs,
                            scope, depth);
    }
    const Operator* op = FindOperator(domain, node.op_type());
    const onnx::OpSchema* schema =
        onnx::OpSchemaRegistry::Schema(node.op_type(), version->second, domain);
    if (op && !domain.empty()) {  // ONNX's library has schemas of its own domains only
      return ImportOperator(node, *op, version->second, inputs, scope, opsets, depth);
    }
    if (!schema || schema->deprecated()) {
      throw InputError(
          fmt::format("there is no such operator in operator set {}", version->second));
    }
    CheckAgainstSchema(node, *schema);
    CheckAge(*schema, version->second);
    CheckTypes(*schema, inputs);
    if (op) return ImportOperator(node, *op, version->second, inputs, scope, opsets, depth);
    onnx::FunctionProto body;
    if (!FunctionBody(node, *schema, inputs, body)) {
      throw InputError("the operator is not supported");
    }
    // Older bodies name no operator sets: they are written in the one that they belong to.
    OpsetVersions body_opsets = ReadOpsets(body.opset_import());
    body_opsets.emplace("", std::max(kOldestOpset, schema->since_version()));
    ExpandFunction(WithDefaults(node, *schema), body, body_opsets, inputs, scope, depth);
  }

  void ImportOperator(const onnx::NodeProto& node, const Operator& op, int opset,
                      std::vector<std::optional<tensor::Tensor>> inputs, Scope& scope,
                      const OpsetVersions& opsets, int depth) {
    const auto subgraph = [&](const onnx::AttributeProto& attribute,
                              const std::vector<tensor::Tensor>& arguments) {
      return ImportSubgraph(attribute.g(), arguments, scope, opsets, depth + 1);
    };
    builder_.SetScope(Printable(NodeName(node)));
    OperatorContext context(builder_, node, opset, std::move(inputs), subgraph);
    op.import(context);
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      if (i >= static_cast<int>(context.outputs().size()) || !context.outputs()[i]) {
        throw InputError(fmt::format("output {} is not supported", i));
      }
      scope.Define(node.output(i), *context.outputs()[i]);
    }
  }

  std::vector<tensor::Tensor> ImportSubgraph(const onnx::GraphProto& graph,
                                             const std::vector<tensor::Tensor>& arguments,
                                             const Scope& outer, const OpsetVersions& opsets,
                                             int depth) {
    Scope scope(&outer);
    if (graph.input_size() != static_cast<int>(arguments.size())) {
      throw InputError(fmt::format("the inner graph has {} inputs; {} are given",
                                   graph.input_size(), arguments.size()));
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      scope.Define(graph.input(static_cast<int>(i)).name(), arguments[i]);
    }
    DefineInitializers(graph, scope);
    ImportNodes(graph.node(), scope, opsets, depth);
    std::vector<tensor::Tensor> outputs;
    for (const auto& output : graph.output()) {
      outputs.push_back(Lookup(output.name(), scope, "output"));
    }
    return outputs;
  }

  /// The operator's definition in terms of others, if ONNX has one.
  bool FunctionBody(const onnx::NodeProto& node, const onnx::OpSchema& schema,
                    const std::vector<std::optional<tensor::Tensor>>& inputs,
                    onnx::FunctionProto& body) {
    if (schema.HasFunction()) {
      body = *schema.GetFunction();
      return true;
    }
    if (!schema.HasContextDependentFunction()) return false;
    std::vector<onnx::TypeProto> types;
    for (const auto& input : inputs) {
      types.emplace_back();
      if (input) types.back().mutable_tensor_type()->set_elem_type(DTypeToOnnx(input->dtype()));
    }
    const onnx::FunctionBodyBuildContextImpl context(node, types);
    return schema.BuildContextDependentFunction(context, body);
  }

  void ExpandFunction(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                      const OpsetVersions& opsets,
                      const std::vector<std::optional<tensor::Tensor>>& inputs, Scope& scope,
                      int depth) {
    Scope inner;
    if (static_cast<int>(inputs.size()) > function.input_size() ||
        node.output_size() > function.output_size()) {
      throw InputError("more inputs or outputs than the function has");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]) inner.Define(function.input(static_cast<int>(i)), *inputs[i]);
    }
    std::vector<onnx::NodeProto> nodes;
    for (const auto& body_node : function.node()) {
      nodes.push_back(Instantiate(body_node, node, inputs.size(), function));
    }
    ImportNodes(nodes, inner, opsets, depth + 1);
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) {
        scope.Define(node.output(i), Lookup(function.output(i), inner, "output"));
      }
    }
  }

  /// A function body's node for one call: attributes that refer to the call's are filled in,
  /// inputs that the call leaves out become absent.
  static onnx::NodeProto Instantiate(const onnx::NodeProto& body_node, const onnx::NodeProto& call,
                                     size_t given_inputs, const onnx::FunctionProto& function) {
    onnx::NodeProto node = body_node;
    if (node.name().empty()) node.set_name(NodeName(call) + "." + node.op_type());
    node.clear_attribute();
    for (const auto& attribute : body_node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *node.add_attribute() = attribute;
        continue;
      }
      for (const auto& actual : call.attribute()) {
        if (actual.name() != attribute.ref_attr_name()) continue;
        *node.add_attribute() = actual;
        node.mutable_attribute()->rbegin()->set_name(attribute.name());
      }
    }
    for (auto& input : *node.mutable_input()) {
      for (int i = 0; i < function.input_size(); ++i) {
        const bool absent = i >= static_cast<int>(given_inputs) || call.input(i).empty();
        if (absent && input == function.input(i)) input.clear();
      }
    }
    return node;
  }

  const std::string directory_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  GraphBuilder builder_;
  FloatWidener widener_{builder_};
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  int64_t imported_nodes_ = 0;
};

onnx::ModelProto ReadModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) base::ThrowPathError(path + ": cannot be read", errno);
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file) || !model.has_graph()) {
    throw InputError(fmt::format("{}: not an ONNX model, or a damaged one", path));
  }
  return model;
}

}  // namespace

Graph ImportOnnx(const std::string& path, const ImportOptions& options) {
  const onnx::ModelProto model = ReadModel(path);
  try {
    return Importer(path, model, options).Run();
  } catch (const std::bad_alloc&) {
    throw SystemError(fmt::format("{}: out of memory", path));
  } catch (const SystemError&) {
    throw;
  } catch (const OpenShapeError& error) {
    throw OpenShapeError(fmt::format("{}: {}", path, error.what()), error.input(), error.shape());
  } catch (const RunTimeDependence& error) {
    throw RunTimeDependence(fmt::format("{}: {}", path, error.what()), error.inputs());
  } catch (const std::exception& error) {
    const std::string message = fmt::format("{}: {}", path, error.what());
    if (IsModelAtFault(error)) throw InputError(message);
    throw std::logic_error(message);
  }
}

std::vector<std::string> ReadInputNames(const std::string& path) {
  const onnx::ModelProto model = ReadModel(path);
  std::set<std::string> known;
  for (const auto& initializer : model.graph().initializer()) known.insert(initializer.name());
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) {
    if (!known.contains(input.name())) names.push_back(input.name());
  }
  return names;
}

}  // namespace bayloom::graph
