// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <limits>
#include <new>
#include <stdexcept>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/import/external_data.h"
#include "bayloom/graph/import/functions.h"
#include "bayloom/graph/import/import_notes.h"
#include "bayloom/graph/import/input_shapes.h"
#include "bayloom/graph/import/legacy_nodes.h"
#include "bayloom/graph/import/made_once.h"
#include "bayloom/graph/import/node_handler.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/node_schema.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/import/partial_import.h"
#include "bayloom/graph/import/scope.h"
#include "bayloom/graph/import/small_values.h"
#include "bayloom/graph/import/value_types.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/operators/integer_operators.h"

namespace bayloom::graph {
namespace {

/// Functions in functions, graphs in graphs: deeper nesting is taken for an endless one.
constexpr int kMaxDepth = 64;
/// Nodes imported in all; unrolled loops and expanded functions count each time.
constexpr int64_t kMaxNodes = 1'000'000;

class Importer {
 public:
  /// With `notes` what is refused is noted there; the rest is imported. With `partial` nodes that
  /// are refused are left out, and what they compute is taken for inputs where that can be.
  Importer(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options,
           ImportNotes* notes = nullptr, PartialImport* partial = nullptr)
      : data_folder_(DataFolderOf(path)),
        model_(model),
        options_(options),
        notes_(notes),
        partial_(partial),
        builder_(Printable(model.graph().name())),
        functions_(model) {}

  /// Gives the memory of the model's initializers back as they are read.
  Graph RunAndRelease(onnx::ModelProto& model) {
    released_ = model.mutable_graph();
    return Run();
  }

  Graph Run() {
    Scope scope;
    ImportModel(scope);
    std::vector<GraphOutput> outputs;
    for (const auto& output : model_.graph().output()) {
      const tensor::Tensor tensor =
          DeclaredOutput(output, scope.LookupTensor(output.name(), "output"));
      outputs.push_back({output.name(), tensor.id()});
      builder_.Rename(tensor, output.name());
    }
    if (outputs.empty()) throw InputError("the graph has no outputs");
    Graph graph = builder_.Build(std::move(outputs));
    graph.narrow_constants = widener_.MainTypeOfConstants();
    return graph;
  }

  /// The same without outputs: all nodes that are translated, in partial().graph.
  void RunPartially() {
    Scope scope;
    ImportModel(scope);
    partial_->graph = builder_.graph();
    partial_->values = scope.TakeOwn();
  }

 private:
  void ImportModel(Scope& scope) {
    const OpsetVersions opsets = ReadOpsets(model_.opset_import());
    const onnx::GraphProto& graph = model_.graph();
    DefineInitializers(graph, scope);
    const InputShapes shapes(ReadInputs(graph, scope), options_);
    for (const DeclaredInput& input : shapes.inputs()) DefineInput(input, shapes, scope);
    if (partial_) partial_->ReadDeclarations(graph, shapes);
    ImportNodes(NodesOf(graph), scope, opsets, 0);
  }

  /// The nodes of a graph that its outputs need, in an order in which they can be imported.
  const NodeList& NodesOf(const onnx::GraphProto& graph) {
    const auto [known, is_new] = made_once_.nodes.try_emplace(&graph);
    if (is_new) {
      std::unordered_set<std::string> results;
      for (const auto& output : graph.output()) results.insert(output.name());
      known->second = NodesNeeded(SortedNodes(graph.node()), std::move(results));
    }
    return known->second;
  }

  tensor::Tensor DeclaredOutput(const onnx::ValueInfoProto& output, const tensor::Tensor& tensor) {
    if (const SmallType* small = small_values_.Find(tensor)) {
      NoteOrThrow(fmt::format("output '{}': element type {} is not supported",
                              Printable(output.name()), small->name));
    }
    const int declared = output.type().tensor_type().elem_type();
    for (tensor::DType narrow : {tensor::DType::kFloat16, tensor::DType::kBFloat16}) {
      if (declared == DTypeToOnnx(narrow)) return widener_.AsDeclared(tensor, narrow);
    }
    return tensor;
  }

  void DefineInitializers(const onnx::GraphProto& graph, Scope& scope) {
    for (int i = 0; i < graph.initializer_size(); ++i) {
      const onnx::TensorProto& initializer = graph.initializer(i);
      DefineInitializer(initializer, scope,
                        [&] { return TensorFromOnnx(initializer, data_folder_); });
      if (&graph == released_) delete released_->mutable_initializer(i)->release_raw_data();
    }
    for (const auto& initializer : graph.sparse_initializer()) {
      DefineInitializer(initializer.values(), scope,
                        [&] { return TensorFromSparse(initializer, data_folder_); });
    }
  }

  /// `proto` has the name and the element type; `read` returns the data.
  template <typename ReadData>
  void DefineInitializer(const onnx::TensorProto& proto, Scope& scope, ReadData read) {
    const std::string name = Printable(proto.name());
    try {
      auto known = made_once_.initializers.find(&proto);
      if (known == made_once_.initializers.end()) {
        known = made_once_.initializers.emplace(&proto, builder_.Constant(name, read())).first;
        small_values_.Note(known->second, FindSmallType(proto.data_type()));
      }
      scope.Define(proto.name(), {.tensor = known->second, .type = proto.data_type()});
    } catch (const InputError& error) {
      NoteOrThrow(fmt::format("initializer '{}': {}", name, error.what()));
      scope.DefineOpaque(proto.name(), proto.data_type());
    }
  }

  void NoteOrThrow(const std::string& problem) {
    if (partial_) return;
    if (!notes_) throw InputError(problem);
    notes_->problems.push_back(problem);
  }

  std::vector<DeclaredInput> ReadInputs(const onnx::GraphProto& graph, Scope& scope) {
    std::vector<DeclaredInput> inputs;
    for (const onnx::ValueInfoProto* input : InputsWithoutData(graph)) {
      try {
        inputs.push_back(ReadDeclaredInput(*input));
      } catch (const InputError& error) {
        NoteOrThrow(fmt::format("input '{}': {}", Printable(input->name()), error.what()));
        scope.DefineOpaque(input->name(), input->type().tensor_type().elem_type());
      }
    }
    return inputs;
  }

  void DefineInput(const DeclaredInput& input, const InputShapes& shapes, Scope& scope) {
    const int type = input.small ? input.small->onnx : DTypeToOnnx(input.dtype);
    if (auto frozen = shapes.Frozen(input.name)) {
      const tensor::Tensor constant = builder_.Constant(input.name, std::move(frozen));
      small_values_.Note(constant, input.small);
      scope.Define(input.name, {.tensor = constant, .type = type});
      return;
    }
    if (input.small && partial_) return scope.DefineOpaque(input.name, type);
    if (input.small) {
      throw RunTimeDependence(
          fmt::format("input '{}': element type {} is supported in constants only",
                      Printable(input.name), input.small->name),
          {input.name});
    }
    try {
      const tensor::Tensor tensor = builder_.Input(input.name, input.dtype, shapes.ShapeOf(input));
      scope.Define(input.name, {.tensor = tensor, .type = type});
    } catch (const InputError& error) {
      throw InputError(fmt::format("input '{}': {}", Printable(input.name), error.what()));
    }
  }

  void ImportNodes(const NodeList& nodes, Scope& scope, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxDepth) throw InputError("functions or graphs are nested too deeply");
    for (const onnx::NodeProto* const node : nodes) {
      if (++imported_nodes_ > kMaxNodes) {
        throw InputError(fmt::format("more than {} nodes after unrolling", kMaxNodes));
      }
      if (partial_ && depth == 0) {
        ImportOrLeave(*node, scope, opsets);
      } else if (notes_) {
        ImportOrNote(*node, scope, opsets, depth);
      } else {
        ImportLocated(*node, scope, opsets, depth);
      }
    }
  }

  /// An error that already names its node.
  class NodeError : public InputError {
    using InputError::InputError;
  };

  static std::string Located(const onnx::NodeProto& node, const OpsetVersions& opsets,
                             const std::exception& error) {
    return fmt::format("node '{}' ({}): {}", Printable(NodeName(node)),
                       DescribeOperator(node, opsets), error.what());
  }

  /// Errors name the node.
  void ImportLocated(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets,
                     int depth) {
    try {
      ImportNode(node, scope, opsets, depth);
    } catch (const NodeError&) {
      throw;
    } catch (const OpaqueValue&) {  // in a graph of a node that is left out
      throw;
    } catch (const SystemError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const RunTimeDependence& error) {
      if (depth > 0) throw;  // the outermost node is the one that people know
      throw RunTimeDependence(Located(node, opsets, error), error.inputs());
    } catch (const std::exception& error) {
      if (IsModelAtFault(error)) throw NodeError(Located(node, opsets, error));
      throw std::logic_error(Located(node, opsets, error));
    }
  }

  /// A node that is refused is noted; of its results nothing is known.
  void ImportOrNote(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets,
                    int depth) {
    try {
      return ImportNode(node, scope, opsets, depth);
    } catch (const OpaqueValue&) {
      ++notes_->unexamined_nodes;
      NoteUnsupportedInside(node, opsets);
    } catch (const SystemError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const RunTimeDependence& error) {
      Note(node, opsets, error, error.inputs());
    } catch (const std::exception& error) {
      if (!IsModelAtFault(error)) throw std::logic_error(Located(node, opsets, error));
      Note(node, opsets, error, {});
    }
    for (const std::string& output : node.output()) {
      if (!output.empty() && !scope.HasOwn(output)) scope.DefineOpaque(output);
    }
  }

  /// A node of the model's own graph that is refused is left out.
  void ImportOrLeave(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets) {
    std::string reason = partial_->WhyToLeave(node);
    try {
      if (reason.empty()) ImportNode(node, scope, opsets, 0);
    } catch (const OpaqueValue&) {
      reason = "depends on values of nodes that are left out whose types or shapes are not known";
    } catch (const SystemError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      if (!IsModelAtFault(error)) throw std::logic_error(Located(node, opsets, error));
      reason = error.what();
    }
    partial_->nodes.push_back({&node, VersionOf(node, opsets), reason});
    if (!reason.empty()) partial_->DefineOutputs(node, opsets, builder_, scope);
  }

  void Note(const onnx::NodeProto& node, const OpsetVersions& opsets, const std::exception& error,
            const std::vector<std::string>& inputs) {
    notes_->refusals.push_back({Printable(NodeName(node)), QualifiedName(node),
                                VersionOf(node, opsets), error.what(), inputs});
  }

  /// Operators of inner graphs and functions that are not reached are looked up, no more.
  void NoteUnsupportedInside(const onnx::NodeProto& node, const OpsetVersions& opsets) {
    int64_t budget = kMaxNodes - imported_nodes_;
    ForEachUnsupportedInside(node, opsets, functions_, budget,
                             [&](const onnx::NodeProto& inner, const OpsetVersions& versions,
                                 const InputError& error) { Note(inner, versions, error, {}); });
    imported_nodes_ = kMaxNodes - budget;
  }

  /// A node's inputs; tensors are widened (wide_floats.h).
  struct NodeInputs {
    std::vector<NamedValue> values;
    std::vector<std::optional<tensor::Tensor>> tensors;
    std::vector<int> types;          ///< 0: absent or not known
    std::vector<std::string> names;  ///< of the types, as schemas have them; empty: not known
  };

  NodeInputs ReadNodeInputs(const onnx::NodeProto& node, const Scope& scope) {
    NodeInputs inputs;
    for (const std::string& name : node.input()) {
      NamedValue value = name.empty() ? NamedValue() : scope.Lookup(name, "input");
      if (value.tensor) value.tensor = widener_.Widen(*value.tensor);
      if (value.sequence) {
        for (tensor::Tensor& element : *value.sequence) element = widener_.Widen(element);
      }
      inputs.tensors.push_back(value.tensor);
      inputs.types.push_back(value.type);
      inputs.names.push_back(SchemaTypeName(value));
      inputs.values.push_back(std::move(value));
    }
    return inputs;
  }

  void ImportNode(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets,
                  int depth) {
    const NodeHandler handler = FindHandler(node, opsets, functions_);
    NodeInputs inputs = ReadNodeInputs(node, scope);
    if (handler.local) return ExpandFunction(node, *handler.local, inputs, scope, depth);
    CheckTypes(*handler.schema, inputs.names);
    if (handler.is_legacy) {
      const onnx::NodeProto modern = ModernForm(node, builder_, inputs.tensors);
      const NodeHandler oldest = FindHandler(modern, {{"", kOldestOpset}}, functions_);
      return ImportOperator(modern, oldest, inputs, scope, opsets, depth);
    }
    if (handler.op) return ImportOperator(node, handler, inputs, scope, opsets, depth);
    ExpandFunction(WithDefaults(node, *handler.schema), *handler.body, inputs, scope, depth);
  }

  void ImportOperator(const onnx::NodeProto& node, const NodeHandler& handler,
                      const NodeInputs& inputs, Scope& scope, const OpsetVersions& opsets,
                      int depth) {
    const auto subgraph = [&](const onnx::AttributeProto& attribute,
                              const std::vector<NamedValue>& arguments) {
      return ImportSubgraph(attribute.g(), arguments, scope, opsets, depth + 1);
    };
    builder_.SetScope(Printable(NodeName(node)));
    const std::vector<const SmallType*> small = small_values_.TypesOf(inputs.tensors);
    CheckSmallTypes(*handler.schema, small);
    OperatorContext context(builder_, node, handler.version, inputs.tensors, subgraph);
    context.SetDataFolder(&data_folder_);
    context.SetSmallTypes(small);
    context.SetInputValues(inputs.values);
    ImportOnIntegersOrFloats(*handler.op, context);
    std::vector<NamedValue> outputs;
    for (int i = 0; i < node.output_size(); ++i) {
      std::optional<NamedValue> output = context.OutputValue(i);
      if (!output && !node.output(i).empty()) {
        throw InputError(fmt::format("output {} is not supported", i));
      }
      outputs.push_back(output.value_or(NamedValue()));
      if (!output || !output->tensor) continue;
      const SmallType* given = context.SmallTypeOfOutput(i);
      if (!given) given = SmallOutputType(*handler.schema, i, small);
      small_values_.Note(*output->tensor, given);
      if (output->type != 0) continue;
      outputs.back().type =
          ImportedType(*handler.schema, node, i, inputs.types, *output->tensor, given);
    }
    DefineOutputs(node, std::move(outputs), scope);
  }

  static void DefineOutputs(const onnx::NodeProto& node, std::vector<NamedValue> outputs,
                            Scope& scope) {
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) scope.Define(node.output(i), std::move(outputs[i]));
    }
  }

  std::vector<NamedValue> ImportSubgraph(const onnx::GraphProto& graph,
                                         const std::vector<NamedValue>& arguments,
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
    ImportNodes(NodesOf(graph), scope, opsets, depth);
    std::vector<NamedValue> outputs;
    for (const auto& output : graph.output()) {
      outputs.push_back(scope.Lookup(output.name(), "output"));
    }
    return outputs;
  }

  void ExpandFunction(const onnx::NodeProto& node, const onnx::FunctionProto& function,
                      const NodeInputs& inputs, Scope& scope, int depth) {
    Scope inner;
    if (static_cast<int>(inputs.values.size()) > function.input_size() ||
        node.output_size() > function.output_size()) {
      throw InputError("more inputs or outputs than the function has");
    }
    for (size_t i = 0; i < inputs.values.size(); ++i) {
      if (inputs.values[i].IsOpaque()) continue;  // absent
      inner.Define(function.input(static_cast<int>(i)), inputs.values[i]);
    }
    const std::vector<onnx::NodeProto> body = InstantiateBody(function, node);
    const ForOneBody scope_of_body(made_once_);
    std::unordered_set<std::string> results;
    for (int i = 0; i < node.output_size(); ++i) {
      if (!node.output(i).empty()) results.insert(function.output(i));
    }
    ImportNodes(NodesNeeded(SortedNodes(body), std::move(results)), inner,
                ReadOpsets(function.opset_import()), depth + 1);
    std::vector<NamedValue> outputs;
    for (int i = 0; i < node.output_size(); ++i) {
      outputs.push_back(node.output(i).empty() ? NamedValue()
                                               : inner.Lookup(function.output(i), "output"));
    }
    DefineOutputs(node, std::move(outputs), scope);
  }

  const DataFolder data_folder_;
  const onnx::ModelProto& model_;
  onnx::GraphProto* released_ = nullptr;
  const ImportOptions& options_;
  ImportNotes* const notes_;
  PartialImport* const partial_;
  GraphBuilder builder_;
  const LocalFunctions functions_;
  MadeOnce made_once_;
  FloatWidener widener_{builder_};
  SmallValues small_values_;
  int64_t imported_nodes_ = 0;
};

}  // namespace

onnx::ModelProto ReadModel(const std::string& path) {
  const std::string content = base::ReadFile(path);
  if (content.size() > std::numeric_limits<int>::max()) {
    throw InputError(
        fmt::format("{}: a model is at most 2 GiB; larger weights are external data", path));
  }
  onnx::ModelProto model;
  // Not from a stream, which enlarges the memory of long texts again and again.
  if (!model.ParseFromArray(content.data(), static_cast<int>(content.size())) ||
      !model.has_graph()) {
    throw InputError(fmt::format("{}: not an ONNX model, or a damaged one", path));
  }
  return model;
}

std::optional<Graph> ImportNoting(const std::string& path, const onnx::ModelProto& model,
                                  const ImportOptions& options, ImportNotes& notes) {
  try {
    return Importer(path, model, options, &notes).Run();
  } catch (const OpaqueValue&) {
    return std::nullopt;  // an output that nothing is known of
  }
}

Graph ImportOnnx(const std::string& path, const ImportOptions& options) {
  onnx::ModelProto model = ReadModel(path);
  try {
    return Importer(path, model, options).RunAndRelease(model);
  } catch (...) {
    RethrowNaming(path);
  }
}

void ImportPartially(const std::string& path, const onnx::ModelProto& model,
                     const ImportOptions& options, PartialImport& partial) {
  Importer(path, model, options, nullptr, &partial).RunPartially();
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
