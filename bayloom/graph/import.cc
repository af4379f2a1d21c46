// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/decoder/sliding_window.h"
#include "bayloom/graph/fixed_caches.h"
#include "bayloom/graph/import/external_data.h"
#include "bayloom/graph/import/functions.h"
#include "bayloom/graph/import/import_notes.h"
#include "bayloom/graph/import/input_shapes.h"
#include "bayloom/graph/import/last_rows.h"
#include "bayloom/graph/import/legacy_nodes.h"
#include "bayloom/graph/import/made_once.h"
#include "bayloom/graph/import/node_handler.h"
#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/node_schema.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/import/partial_import.h"
#include "bayloom/graph/import/refusal_policy.h"
#include "bayloom/graph/import/scope.h"
#include "bayloom/graph/import/small_values.h"
#include "bayloom/graph/import/stated_shapes.h"
#include "bayloom/graph/import/value_types.h"
#include "bayloom/graph/import/wide_floats.h"
#include "bayloom/graph/open/generalize.h"
#include "bayloom/graph/open/import_open.h"
#include "bayloom/graph/operators/integer_operators.h"

namespace bayloom::graph {
namespace {

/// Nodes imported in all; unrolled loops and expanded functions count each time.
constexpr int64_t kMaxNodes = 1'000'000;

class Importer {
 public:
  Importer(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options,
           std::unique_ptr<RefusalPolicy> policy)
      : data_folder_(DataFolderOf(path)),
        model_(model),
        options_(options),
        policy_(std::move(policy)),
        builder_(Printable(model.graph().name())),
        functions_(model),
        stated_shapes_(StatedShapes(model.graph())),
        own_found_(options.bounds) {
    if (options.integer_rows) builder_.AllowIntegerRows();
    own_found_.BeginFirst(options.symbols);
    builder_.FindLengths(own_found_, /*fixed=*/true);
  }

  /// Whether the network finds lengths that are not fixed, and has to be imported as an open one.
  bool FindsOpen() const { return builder_.FindsOpen(); }

  /// With lengths that are found as long as they can be; these are noted.
  Graph RunNoting(std::vector<FoundBound>& found) {
    builder_.FindLengths(own_found_, /*fixed=*/false);
    Graph graph = Run();
    found = own_found_.all();
    return graph;
  }

  /// Gives the memory of the model's initializers back as they are read.
  Graph RunAndRelease(onnx::ModelProto& model) {
    released_ = model.mutable_graph();
    return Run();
  }

  /// To compare it with an import for other lengths.
  Graph RunToCompare(KnownConstants& known, ComparedImports& imports, FoundLengths& found,
                     bool ratios) {
    known_ = &known;
    builder_.ShareFolded(known.folded);
    builder_.CompareLengths(ratios, imports);
    builder_.FindLengths(found, /*fixed=*/false);
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
    if (!known_) own_found_.CheckBounds();
    Graph graph = builder_.Build(std::move(outputs));
    graph.narrow_constants = widener_.MainTypeOfConstants();
    return graph;
  }

  /// The same without outputs: all nodes that are translated.
  void RunPartially(PartialImport& partial) {
    Scope scope;
    builder_.FindNoLengths();
    ImportModel(scope, [&](const InputShapes& shapes) {
      partial.ReadDeclarations(model_.graph(), shapes);
    });
    partial.graph = builder_.graph();
    partial.values = scope.TakeOwn();
  }

 private:
  void ImportModel(Scope& scope,
                   const std::function<void(const InputShapes&)>& inputs_are_read = {}) {
    const OpsetVersions opsets = ReadOpsets(model_.opset_import());
    const onnx::GraphProto& graph = model_.graph();
    DefineInitializers(graph, scope);
    const InputShapes shapes(ReadInputs(graph, scope), options_);
    for (const DeclaredInput& input : shapes.inputs()) DefineInput(input, shapes, scope);
    if (inputs_are_read) inputs_are_read(shapes);
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
      policy_->RefuseValue(fmt::format("output '{}': element type {} is not supported",
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
      DefineInitializer(initializer, scope, [&] { return ReadInitializer(initializer); });
      if (&graph == released_) delete released_->mutable_initializer(i)->release_raw_data();
    }
    for (const auto& initializer : graph.sparse_initializer()) {
      DefineInitializer(initializer.values(), scope,
                        [&] { return TensorFromSparse(initializer, data_folder_); });
    }
  }

  std::shared_ptr<const tensor::HostTensor> ReadInitializer(const onnx::TensorProto& proto) const {
    const auto read = [&] {
      return std::make_shared<const tensor::HostTensor>(TensorFromOnnx(proto, data_folder_));
    };
    if (!known_) return read();
    FoldedConstants::Constant& known = known_->initializers[&proto];
    if (!known) {
      known = read();
      known_->folded.AddShared(known);
    }
    return known;
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
      policy_->RefuseValue(fmt::format("initializer '{}': {}", name, error.what()));
      scope.DefineOpaque(proto.name(), proto.data_type());
    }
  }

  std::vector<DeclaredInput> ReadInputs(const onnx::GraphProto& graph, Scope& scope) {
    std::vector<DeclaredInput> inputs;
    for (const onnx::ValueInfoProto* input : InputsWithoutData(graph)) {
      try {
        inputs.push_back(ReadDeclaredInput(*input));
      } catch (const InputError& error) {
        policy_->RefuseValue(fmt::format("input '{}': {}", Printable(input->name()), error.what()));
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
    if (input.small) {
      policy_->RefuseInput(RunTimeDependence(
          fmt::format("input '{}': element type {} is supported in constants only",
                      Printable(input.name), input.small->name),
          {input.name}));
      return scope.DefineOpaque(input.name, type);
    }
    try {
      const tensor::Tensor tensor = builder_.Input(input.name, input.dtype, shapes.ShapeOf(input));
      scope.Define(input.name, {.tensor = tensor, .type = type});
    } catch (const InputError& error) {
      throw InputError(fmt::format("input '{}': {}", Printable(input.name), error.what()));
    }
  }

  void ImportNodes(const NodeList& nodes, Scope& scope, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxNesting) throw InputError("functions or graphs are nested too deeply");
    for (const onnx::NodeProto* const node : nodes) {
      if (--nodes_left_ < 0) {
        throw InputError(fmt::format("more than {} nodes after unrolling", kMaxNodes));
      }
      if (const auto refused = TryImport(*node, scope, opsets, depth)) {
        policy_->RefuseNode(*refused, scope, {builder_, functions_, nodes_left_});
      } else {
        policy_->Accept(*node, opsets, depth);
      }
    }
  }

  /// Whether and why the node is refused. Throws what is no fault of the model.
  std::optional<RefusedNode> TryImport(const onnx::NodeProto& node, Scope& scope,
                                       const OpsetVersions& opsets, int depth) {
    using Cause = RefusedNode::Cause;
    const auto refused = [&](Cause cause, std::string reason, std::vector<std::string> inputs = {},
                             std::string bound = "") {
      return RefusedNode{node,
                         opsets,
                         depth,
                         cause,
                         std::move(reason),
                         std::move(inputs),
                         std::move(bound),
                         std::current_exception()};
    };
    if (std::string reason = policy_->WhyToLeave(node, depth); !reason.empty()) {
      return refused(Cause::kNode, std::move(reason));
    }
    try {
      ImportNode(node, scope, opsets, depth);
      return std::nullopt;
    } catch (const OpaqueValue&) {
      return refused(Cause::kUnknownValue, "");
    } catch (const SystemError&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const RunTimeDependence& error) {
      return refused(Cause::kRunTimeValue, error.what(), error.inputs(), error.bound());
    } catch (const NodeError& error) {
      return refused(Cause::kInnerNode, error.what());
    } catch (const std::exception& error) {
      const RefusedNode by_node = refused(Cause::kNode, error.what());
      if (!IsModelAtFault(error)) throw std::logic_error(by_node.Located());
      return by_node;
    }
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
    if (depth == 0) context.SetStatedShapes(&stated_shapes_);
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
  KnownConstants* known_ = nullptr;
  const ImportOptions& options_;
  const std::unique_ptr<RefusalPolicy> policy_;
  GraphBuilder builder_;
  const LocalFunctions functions_;
  const StatedShapes stated_shapes_;
  FoundLengths own_found_;
  MadeOnce made_once_;
  FloatWidener widener_{builder_};
  SmallValues small_values_;
  int64_t nodes_left_ = kMaxNodes;
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
    return Importer(path, model, options, NoteRefusals(notes)).RunNoting(notes.found);
  } catch (const OpaqueValue&) {
    return std::nullopt;  // an output that nothing is known of
  }
}

Graph ImportToCompare(const std::string& path, const onnx::ModelProto& model,
                      const ImportOptions& options, KnownConstants& known, ComparedImports& imports,
                      FoundLengths& found, bool ratios) {
  return Importer(path, model, options, ThrowRefusals())
      .RunToCompare(known, imports, found, ratios);
}

namespace {

/// A network of fixed sizes; nullopt if it finds lengths that are not.
std::optional<Graph> ImportFixed(const std::string& path, onnx::ModelProto& model,
                                 const ImportOptions& options) {
  Importer importer(path, model, options, ThrowRefusals());
  try {
    return importer.RunAndRelease(model);
  } catch (const InputError&) {
    if (!importer.FindsOpen()) throw;
    return std::nullopt;
  }
}

}  // namespace

Graph ImportOnnx(const std::string& path, const ImportOptions& options) {
  onnx::ModelProto model = ReadModel(path);
  try {
    KeepLastRows(model, options.last_rows);
    std::optional<Graph> graph;
    if (options.symbols.empty()) {
      graph = ImportFixed(path, model, options);
      if (!graph) {
        model = ReadModel(path);  // what was read of it is gone
        KeepLastRows(model, options.last_rows);
      }
    }
    if (!graph) {
      graph = ImportOpen(path, model, options);
      ForgetInnerBounds(*graph);
      graph->window = FindWindow(*graph);
    }
    Result<Graph> grown = GrowCaches(*graph);
    if (grown && options.grow_caches) {
      graph = *std::move(grown);
    } else {
      graph->fixed_caches =
          grown ? "its caches of fixed size are to stay inputs and outputs" : grown.error().message;
    }
    graph->state_room = options.state_room;
    graph->state_type = options.state_type;
    return *std::move(graph);
  } catch (...) {
    RethrowNaming(path);
  }
}

void ImportPartially(const std::string& path, const onnx::ModelProto& model,
                     const ImportOptions& options, PartialImport& partial) {
  Importer(path, model, options, LeaveRefusedOut(partial)).RunPartially(partial);
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
