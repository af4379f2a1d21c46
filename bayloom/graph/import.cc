// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>

#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/internal/external_data.h"
#include "bayloom/graph/internal/functions.h"
#include "bayloom/graph/internal/input_shapes.h"
#include "bayloom/graph/internal/node_order.h"
#include "bayloom/graph/internal/node_schema.h"
#include "bayloom/graph/internal/onnx_tensor.h"
#include "bayloom/graph/internal/operators/operator.h"
#include "bayloom/graph/internal/opset_versions.h"
#include "bayloom/graph/internal/scope.h"
#include "bayloom/graph/internal/small_types.h"

namespace bayloom::graph {
namespace {

/// Functions in functions, graphs in graphs: deeper nesting is taken for an endless one.
constexpr int kMaxDepth = 64;
/// Nodes imported in all; unrolled loops and expanded functions count each time.
constexpr int64_t kMaxNodes = 1'000'000;

/// Whether an exception says that the model cannot be used: what was refused, shapes that do not
/// fit (tensor/operators.h), constants that cannot be computed. All else is a fault of this
/// program.
bool IsModelAtFault(const std::exception& error) {
  return dynamic_cast<const InputError*>(&error) != nullptr ||
         dynamic_cast<const std::invalid_argument*>(&error) != nullptr ||
         dynamic_cast<const std::domain_error*>(&error) != nullptr;
}

class Importer {
 public:
  Importer(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options)
      : data_folder_(DataFolderOf(path)),
        model_(model),
        options_(options),
        builder_(Printable(model.graph().name())),
        functions_(model) {}

  Graph Run() {
    const OpsetVersions opsets = ReadOpsets(model_.opset_import());
    const onnx::GraphProto& graph = model_.graph();
    Scope scope;
    DefineInitializers(graph, scope);
    const InputShapes shapes(graph, options_);
    for (const auto& input : graph.input()) {
      if (!scope.HasOwn(input.name())) DefineInput(input, shapes, scope);
    }
    ImportNodes(graph.node(), scope, opsets, 0);
    std::vector<GraphOutput> outputs;
    for (const auto& output : graph.output()) {
      const tensor::Tensor tensor = scope.Lookup(output.name(), "output");
      if (const SmallType* small = SmallTypeOf(tensor)) {
        throw InputError(fmt::format("output '{}': element type {} is not supported",
                                     Printable(output.name()), small->name));
      }
      outputs.push_back({Printable(output.name()), tensor.id()});
      if (!builder_.ConstantOf(tensor)) builder_.Rename(tensor, Printable(output.name()));
    }
    if (outputs.empty()) throw InputError("the graph has no outputs");
    return builder_.Build(std::move(outputs));
  }

 private:
  void DefineInitializers(const onnx::GraphProto& graph, Scope& scope) {
    for (const auto& initializer : graph.initializer()) {
      DefineInitializer(initializer, scope,
                        [&] { return TensorFromOnnx(initializer, data_folder_); });
    }
    for (const auto& initializer : graph.sparse_initializer()) {
      DefineInitializer(initializer.values(), scope,
                        [&] { return TensorFromSparse(initializer, data_folder_); });
    }
  }

  /// Name and type are those of `proto`.
  template <typename ReadData>
  void DefineInitializer(const onnx::TensorProto& proto, Scope& scope, ReadData read) {
    const std::string name = Printable(proto.name());
    try {
      const tensor::Tensor constant = builder_.Constant(name, read());
      NoteSmallType(constant, FindSmallType(proto.data_type()));
      scope.Define(proto.name(), constant);
    } catch (const InputError& error) {
      throw InputError(fmt::format("initializer '{}': {}", name, error.what()));
    }
  }

  void NoteSmallType(const tensor::Tensor& tensor, const SmallType* small) {
    if (small) small_types_[tensor.id()] = small;
  }
  /// Which small type the tensor's values are of; null: none.
  const SmallType* SmallTypeOf(const tensor::Tensor& tensor) const {
    const auto found = small_types_.find(tensor.id());
    return found == small_types_.end() ? nullptr : found->second;
  }

  void DefineInput(const onnx::ValueInfoProto& input, const InputShapes& shapes, Scope& scope) {
    const std::string name = Printable(input.name());
    const SmallType* small = FindSmallType(input.type().tensor_type().elem_type());
    if (auto frozen = shapes.Frozen(input.name())) {
      const tensor::Tensor constant = builder_.Constant(name, std::move(frozen));
      NoteSmallType(constant, small);
      scope.Define(input.name(), constant);
      return;
    }
    if (small) {
      throw RunTimeDependence(
          fmt::format("input '{}': element type {} is supported in constants only", name,
                      small->name),
          {input.name()});
    }
    try {
      const DeclaredInput& declared = shapes.Declared(input.name());
      scope.Define(input.name(),
                   builder_.Input(name, declared.dtype, shapes.ShapeOf(input.name())));
    } catch (const InputError& error) {
      throw InputError(fmt::format("input '{}': {}", name, error.what()));
    }
  }

  template <typename Nodes>
  void ImportNodes(const Nodes& nodes, Scope& scope, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxDepth) throw InputError("functions or graphs are nested too deeply");
    for (const onnx::NodeProto* const sorted : SortedNodes(nodes)) {
      const onnx::NodeProto& node = *sorted;
      if (++imported_nodes_ > kMaxNodes) {
        throw InputError(fmt::format("more than {} nodes after unrolling", kMaxNodes));
      }
      const auto located = [&](const std::exception& error) {
        return fmt::format("node '{}' ({}): {}", Printable(NodeName(node)), QualifiedName(node),
                           error.what());
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
      inputs.push_back(name.empty() ? std::nullopt : std::optional(scope.Lookup(name, "input")));
    }
    if (const onnx::FunctionProto* local = functions_.Find(node)) {
      return ExpandFunction(node, *local, inputs, scope, depth);
    }
    const Schema& schema = SchemaOf(domain, node.op_type(), version->second);
    CheckAgainstSchema(node, schema);
    CheckAge(schema, version->second);
    CheckTypes(schema, TypesOf(inputs));
    if (const Operator* op = FindOperator(domain, node.op_type())) {
      const std::vector<const SmallType*> small = SmallTypesOf(inputs);
      CheckSmallTypes(schema, small);
      return ImportOperator(node, schema, *op, version->second, inputs, scope, opsets, depth);
    }
    const std::optional<onnx::FunctionProto> body = FunctionBody(schema);
    if (!body) throw InputError("the operator is not supported");
    ExpandFunction(WithDefaults(node, schema), *body, inputs, scope, depth);
  }

  std::vector<const SmallType*> SmallTypesOf(
      const std::vector<std::optional<tensor::Tensor>>& tensors) const {
    std::vector<const SmallType*> types;
    for (const auto& tensor : tensors) types.push_back(tensor ? SmallTypeOf(*tensor) : nullptr);
    return types;
  }

  std::vector<std::string> TypesOf(
      const std::vector<std::optional<tensor::Tensor>>& tensors) const {
    std::vector<std::string> types;
    for (const auto& tensor : tensors) {
      const SmallType* small = tensor ? SmallTypeOf(*tensor) : nullptr;
      types.push_back(!tensor ? "" : small ? std::string(small->name) : OnnxName(tensor->dtype()));
    }
    return types;
  }

  void ImportOperator(const onnx::NodeProto& node, const Schema& schema, const Operator& op,
                      int opset, std::vector<std::optional<tensor::Tensor>> inputs, Scope& scope,
                      const OpsetVersions& opsets, int depth) {
    const auto subgraph = [&](const onnx::AttributeProto& attribute,
                              const std::vector<tensor::Tensor>& arguments) {
      return ImportSubgraph(attribute.g(), arguments, scope, opsets, depth + 1);
    };
    builder_.SetScope(Printable(NodeName(node)));
    const std::vector<const SmallType*> small = SmallTypesOf(inputs);
    OperatorContext context(builder_, node, opset, std::move(inputs), subgraph);
    context.SetDataFolder(&data_folder_);
    context.SetSmallTypes(small);
    op.import(context);
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      if (i >= static_cast<int>(context.outputs().size()) || !context.outputs()[i]) {
        throw InputError(fmt::format("output {} is not supported", i));
      }
      const tensor::Tensor& output = *context.outputs()[i];
      const SmallType* set = context.SmallTypeOfOutput(i);
      NoteSmallType(output, set ? set : SmallOutputType(schema, i, small));
      scope.Define(node.output(i), output);
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
      outputs.push_back(scope.Lookup(output.name(), "output"));
    }
    return outputs;
  }

  void ExpandFunction(const onnx::NodeProto& node, const onnx::FunctionProto& function,
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
    ImportNodes(InstantiateBody(function, node), inner, ReadOpsets(function.opset_import()),
                depth + 1);
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) {
        scope.Define(node.output(i), inner.Lookup(function.output(i), "output"));
      }
    }
  }

  const DataFolder data_folder_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  GraphBuilder builder_;
  const LocalFunctions functions_;
  std::unordered_map<tensor::BufferId, const SmallType*> small_types_;
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

/// "; freeze the input 'rate' if its values never change".
std::string FreezingAdvice(const RunTimeDependence& error) {
  if (error.inputs().empty()) return "";
  std::vector<std::string> names;
  for (const std::string& name : error.inputs()) names.push_back(fmt::format("'{}'", name));
  const bool one = names.size() == 1;
  return fmt::format("; freeze the input{} {} if {} values never change", one ? "" : "s",
                     fmt::join(names, ", "), one ? "its" : "their");
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
    throw OpenShapeError(fmt::format("{}: {}", path, error.what()), error.dimensions(),
                         error.inputs());
  } catch (const RunTimeDependence& error) {
    throw RunTimeDependence(fmt::format("{}: {}{}", path, error.what(), FreezingAdvice(error)),
                            error.inputs());
  } catch (const std::exception& error) {
    const std::string message = fmt::format("{}: {}", path, error.what());
    if (IsModelAtFault(error)) throw InputError(message);
    throw std::logic_error(message);
  }
}

std::vector<std::string> ReadInputNames(const std::string& path) {
  const onnx::ModelProto model = ReadModel(path);
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto* input : InputsWithoutData(model.graph())) {
    names.push_back(input->name());
  }
  return names;
}

}  // namespace bayloom::graph
