// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <cerrno>
#include <fstream>
#include <new>
#include <stdexcept>

#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/builder.h"
#include "bayloom/graph/internal/external_data.h"
#include "bayloom/graph/internal/functions.h"
#include "bayloom/graph/internal/import_notes.h"
#include "bayloom/graph/internal/input_shapes.h"
#include "bayloom/graph/internal/legacy_nodes.h"
#include "bayloom/graph/internal/node_order.h"
#include "bayloom/graph/internal/node_schema.h"
#include "bayloom/graph/internal/onnx_tensor.h"
#include "bayloom/graph/internal/operators/integer_operators.h"
#include "bayloom/graph/internal/operators/operator.h"
#include "bayloom/graph/internal/opset_versions.h"
#include "bayloom/graph/internal/scope.h"
#include "bayloom/graph/internal/small_values.h"
#include "bayloom/graph/internal/wide_floats.h"

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
  /// With `notes` what is refused is noted there; the rest is imported.
  Importer(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options,
           ImportNotes* notes = nullptr)
      : data_folder_(DataFolderOf(path)),
        model_(model),
        options_(options),
        notes_(notes),
        builder_(Printable(model.graph().name())),
        functions_(model) {}

  Graph Run() {
    const OpsetVersions opsets = ReadOpsets(model_.opset_import());
    const onnx::GraphProto& graph = model_.graph();
    Scope scope;
    DefineInitializers(graph, scope);
    const InputShapes shapes(ReadInputs(graph, scope), options_);
    for (const DeclaredInput& input : shapes.inputs()) DefineInput(input, shapes, scope);
    ImportNodes(graph.node(), scope, opsets, 0);
    std::vector<GraphOutput> outputs;
    for (const auto& output : graph.output()) {
      const tensor::Tensor tensor = DeclaredOutput(output, scope.Lookup(output.name(), "output"));
      outputs.push_back({Printable(output.name()), tensor.id()});
      if (!builder_.ConstantOf(tensor)) builder_.Rename(tensor, Printable(output.name()));
    }
    if (outputs.empty()) throw InputError("the graph has no outputs");
    return builder_.Build(std::move(outputs));
  }

 private:
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
    for (const auto& initializer : graph.initializer()) {
      DefineInitializer(initializer, scope,
                        [&] { return TensorFromOnnx(initializer, data_folder_); });
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
      auto known = initializers_.find(&proto);
      if (known == initializers_.end()) {
        known = initializers_.emplace(&proto, builder_.Constant(name, read())).first;
        small_values_.Note(known->second, FindSmallType(proto.data_type()));
      }
      scope.Define(proto.name(), known->second);
    } catch (const InputError& error) {
      NoteOrThrow(fmt::format("initializer '{}': {}", name, error.what()));
      scope.DefineOpaque(proto.name());
    }
  }

  void NoteOrThrow(const std::string& problem) {
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
        scope.DefineOpaque(input->name());
      }
    }
    return inputs;
  }

  void DefineInput(const DeclaredInput& input, const InputShapes& shapes, Scope& scope) {
    const std::string name = Printable(input.name);
    if (auto frozen = shapes.Frozen(input.name)) {
      const tensor::Tensor constant = builder_.Constant(name, std::move(frozen));
      small_values_.Note(constant, input.small);
      scope.Define(input.name, constant);
      return;
    }
    if (input.small) {
      throw RunTimeDependence(
          fmt::format("input '{}': element type {} is supported in constants only", name,
                      input.small->name),
          {input.name});
    }
    try {
      scope.Define(input.name, builder_.Input(name, input.dtype, shapes.ShapeOf(input)));
    } catch (const InputError& error) {
      throw InputError(fmt::format("input '{}': {}", name, error.what()));
    }
  }

  template <typename Nodes>
  void ImportNodes(const Nodes& nodes, Scope& scope, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxDepth) throw InputError("functions or graphs are nested too deeply");
    for (const onnx::NodeProto* const node : SortedNodes(nodes)) {
      if (++imported_nodes_ > kMaxNodes) {
        throw InputError(fmt::format("more than {} nodes after unrolling", kMaxNodes));
      }
      if (notes_) {
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
      NoteUnsupportedInside(node, opsets, depth + 1);
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

  void Note(const onnx::NodeProto& node, const OpsetVersions& opsets, const std::exception& error,
            const std::vector<std::string>& inputs) {
    const auto version = opsets.find(DomainOf(node.domain()));
    notes_->refusals.push_back({Printable(NodeName(node)), QualifiedName(node),
                                version == opsets.end() ? 0 : version->second, error.what(),
                                inputs});
  }

  /// Operators of inner graphs and functions that are not reached are looked up, no more.
  void NoteUnsupportedInside(const onnx::NodeProto& node, const OpsetVersions& opsets, int depth) {
    if (depth > kMaxDepth) return;
    const auto look_up = [&](const auto& nodes, const OpsetVersions& versions) {
      for (const onnx::NodeProto& inner : nodes) {
        if (++imported_nodes_ > kMaxNodes) return;
        try {
          FindHandler(inner, versions);
          NoteUnsupportedInside(inner, versions, depth + 1);
        } catch (const InputError& error) {
          Note(inner, versions, error, {});
        }
      }
    };
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) look_up(attribute.g().node(), opsets);
    }
    if (const onnx::FunctionProto* local = functions_.Find(node)) {
      look_up(local->node(), ReadOpsets(local->opset_import()));
    }
  }

  /// By what a node is imported: a function of the model, an operator or a function of ONNX.
  struct Handler {
    const onnx::FunctionProto* local = nullptr;
    const Schema* schema = nullptr;
    int version = 0;
    bool is_legacy = false;
    const Operator* op = nullptr;
    std::optional<onnx::FunctionProto> body;
  };

  /// Refuses operators that are not supported.
  Handler FindHandler(const onnx::NodeProto& node, const OpsetVersions& opsets) {
    const std::string domain = DomainOf(node.domain());
    const auto version = opsets.find(domain);
    if (version == opsets.end()) {
      throw InputError(
          fmt::format("the model imports no operator set for the domain '{}'", Printable(domain)));
    }
    Handler handler;
    handler.version = version->second;
    handler.local = functions_.Find(node);
    if (handler.local) return handler;
    handler.schema = &SchemaOf(domain, node.op_type(), version->second);
    CheckAgainstSchema(node, *handler.schema);
    handler.is_legacy = IsLegacy(*handler.schema, version->second);
    handler.op = FindOperator(domain, node.op_type());
    if (!handler.op) handler.body = FunctionBody(*handler.schema);
    if (!handler.op && !handler.body) throw InputError("the operator is not supported");
    return handler;
  }

  void ImportNode(const onnx::NodeProto& node, Scope& scope, const OpsetVersions& opsets,
                  int depth) {
    const Handler handler = FindHandler(node, opsets);
    std::vector<std::optional<tensor::Tensor>> inputs;
    for (const std::string& name : node.input()) {
      inputs.push_back(name.empty() ? std::nullopt
                                    : std::optional(widener_.Widen(scope.Lookup(name, "input"))));
    }
    if (handler.local) return ExpandFunction(node, *handler.local, inputs, scope, depth);
    CheckTypes(*handler.schema, small_values_.NamesOf(inputs));
    if (handler.is_legacy) {
      const onnx::NodeProto modern = ModernForm(node, builder_, inputs);
      const Handler oldest = FindHandler(modern, {{"", kOldestOpset}});
      return ImportOperator(modern, oldest, inputs, scope, opsets, depth);
    }
    if (handler.op) return ImportOperator(node, handler, inputs, scope, opsets, depth);
    ExpandFunction(WithDefaults(node, *handler.schema), *handler.body, inputs, scope, depth);
  }

  void ImportOperator(const onnx::NodeProto& node, const Handler& handler,
                      std::vector<std::optional<tensor::Tensor>> inputs, Scope& scope,
                      const OpsetVersions& opsets, int depth) {
    const auto subgraph = [&](const onnx::AttributeProto& attribute,
                              const std::vector<tensor::Tensor>& arguments) {
      return ImportSubgraph(attribute.g(), arguments, scope, opsets, depth + 1);
    };
    builder_.SetScope(Printable(NodeName(node)));
    const std::vector<const SmallType*> small = small_values_.TypesOf(inputs);
    CheckSmallTypes(*handler.schema, small);
    OperatorContext context(builder_, node, handler.version, std::move(inputs), subgraph);
    context.SetDataFolder(&data_folder_);
    context.SetSmallTypes(small);
    ImportOnIntegersOrFloats(*handler.op, context);
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      if (i >= static_cast<int>(context.outputs().size()) || !context.outputs()[i]) {
        throw InputError(fmt::format("output {} is not supported", i));
      }
      const tensor::Tensor& output = *context.outputs()[i];
      const SmallType* given = context.SmallTypeOfOutput(i);
      small_values_.Note(output, given ? given : SmallOutputType(*handler.schema, i, small));
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
  ImportNotes* const notes_;
  GraphBuilder builder_;
  const LocalFunctions functions_;
  /// Made once for all iterations of an unrolled loop.
  std::unordered_map<const onnx::TensorProto*, tensor::Tensor> initializers_;
  FloatWidener widener_{builder_};
  SmallValues small_values_;
  int64_t imported_nodes_ = 0;
};

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

onnx::ModelProto ReadModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) base::ThrowPathError(path + ": cannot be read", errno);
  onnx::ModelProto model;
  if (!model.ParseFromIstream(&file) || !model.has_graph()) {
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
