// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/survey.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/graph/decoder/sliding_window.h"
#include "bayloom/graph/import/import_notes.h"
#include "bayloom/graph/import/input_shapes.h"
#include "bayloom/graph/import/last_rows.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/opset_versions.h"
#include "bayloom/graph/open/generalize.h"
#include "bayloom/graph/open/import_open.h"

namespace bayloom::graph {
namespace {

/// Graphs in graphs: what is deeper is not counted.
constexpr int kMaxGraphDepth = 64;

/// Extents that open dimensions but the batch are assumed to have; the first with which the fewest
/// nodes are refused is kept.
constexpr std::array<int64_t, 5> kAssumedExtents = {64, 32, 224, 1024, 1};

/// The element type as people know it.
std::string TypeName(int type) {
  std::string name =
      onnx::TensorProto::DataType_IsValid(type)
          ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(type))
          : fmt::format("type {}", type);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "float") return "float32";
  return name == "double" ? "float64" : name;
}

std::string TypeText(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) return "sequence";
  if (type.has_map_type()) return "map";
  if (type.has_optional_type()) return "optional";
  if (!type.has_tensor_type()) return "unknown";
  const auto& tensor = type.tensor_type();
  if (!tensor.has_shape()) return TypeName(tensor.elem_type()) + " of any shape";
  std::vector<std::string> extents;
  for (const auto& dim : tensor.shape().dim()) {
    const bool is_known = dim.has_dim_value() && dim.dim_value() >= 0;
    const std::string symbol = dim.dim_param().empty() ? "?" : Printable(dim.dim_param());
    extents.push_back(is_known ? std::to_string(dim.dim_value()) : symbol);
  }
  return fmt::format("{}[{}]", TypeName(tensor.elem_type()), fmt::join(extents, ", "));
}

/// Bytes of so many elements of a type as files store them; 0 where that is not known.
int64_t StoredBytes(const onnx::TensorProto& tensor, int64_t count) {
  if (!tensor.raw_data().empty()) return static_cast<int64_t>(tensor.raw_data().size());
  try {
    return count * tensor::ByteSize(DTypeFromOnnx(tensor.data_type()));
  } catch (const InputError&) {
    return 0;
  }
}

/// Walks what the file says, without understanding it.
class FileSurvey {
 public:
  explicit FileSurvey(const onnx::ModelProto& model) : model_(model) {}

  ModelSurvey Take() {
    ReadHeader();
    for (const onnx::ValueInfoProto* input : InputsWithoutData(model_.graph())) {
      survey_.inputs.push_back({input->name(), TypeText(input->type())});
    }
    for (const auto& output : model_.graph().output()) {
      survey_.outputs.push_back({output.name(), TypeText(output.type())});
    }
    CountGraph(model_.graph(), versions_, 0);
    for (const auto& function : model_.functions()) {
      std::map<std::string, int64_t> versions;
      for (const auto& set : function.opset_import()) {
        versions[DomainOf(set.domain())] = set.version();
      }
      CountNodes(function.node(), versions, 0);
    }
    for (auto& [key, use] : uses_) survey_.operators.push_back(std::move(use));
    for (auto& [type, count] : parameters_) survey_.parameters.push_back(std::move(count));
    std::ranges::stable_sort(survey_.parameters, std::greater(), &ParameterCount::bytes);
    return std::move(survey_);
  }

 private:
  void ReadHeader() {
    survey_.producer = Printable(model_.producer_name());
    if (!model_.producer_version().empty()) {
      survey_.producer += " " + Printable(model_.producer_version());
    }
    survey_.ir_version = model_.ir_version();
    for (const auto& set : model_.opset_import()) {
      const std::string domain = DomainOf(set.domain());
      versions_[domain] = set.version();
      survey_.operator_sets[domain.empty() ? "ai.onnx" : Printable(domain)] = set.version();
    }
  }

  void CountGraph(const onnx::GraphProto& graph, const std::map<std::string, int64_t>& versions,
                  int depth) {
    for (const auto& initializer : graph.initializer()) CountParameters(initializer);
    CountNodes(graph.node(), versions, depth);
  }

  template <typename Nodes>
  void CountNodes(const Nodes& nodes, const std::map<std::string, int64_t>& versions, int depth) {
    if (depth > kMaxGraphDepth) return;
    for (const onnx::NodeProto& node : nodes) {
      const auto version = versions.find(DomainOf(node.domain()));
      OperatorUse& use = uses_[QualifiedName(node)];
      use.op = QualifiedName(node);
      use.version = version == versions.end() ? 0 : static_cast<int>(version->second);
      ++use.nodes;
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_t()) CountParameters(attribute.t());
        if (attribute.has_g()) CountGraph(attribute.g(), versions, depth + 1);
      }
    }
  }

  void CountParameters(const onnx::TensorProto& tensor) {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 64;
    int64_t count = 1;
    for (const int64_t extent : tensor.dims()) {
      if (extent < 0 || (extent > 0 && count > kMax / extent)) return;  // damaged: refused later
      count *= extent;
    }
    ParameterCount& total = parameters_[tensor.data_type()];
    total.type = TypeName(tensor.data_type());
    total.count += count;
    total.bytes += StoredBytes(tensor, count);
  }

  const onnx::ModelProto& model_;
  ModelSurvey survey_;
  std::map<std::string, int64_t> versions_;
  std::map<std::string, OperatorUse> uses_;
  std::map<int, ParameterCount> parameters_;
};

/// Examines the nodes as the importer does, with the extents that the options lack assumed.
void SurveyNodes(const std::string& path, const onnx::ModelProto& model,
                 const ImportOptions& options, ModelSurvey& survey) {
  ImportNotes notes;
  const auto import = [&](const ImportOptions& with) {
    notes = {};
    survey.graph = ImportNoting(path, model, with, notes);
  };
  try {
    import(options);
  } catch (const OpenShapeError& error) {
    survey.missing = error.dimensions();
    survey.shapeless = error.inputs();
    if (!survey.shapeless.empty()) return;  // not even the number of dimensions is known
    size_t fewest = std::numeric_limits<size_t>::max();
    ImportNotes best;
    std::optional<Graph> graph;
    for (const int64_t extent : kAssumedExtents) {
      ImportOptions assuming = options;
      std::map<std::string, int64_t> assumed = ExampleExtents(survey.missing, extent);
      assuming.dimensions.insert(assumed.begin(), assumed.end());
      import(assuming);
      if (notes.refusals.size() < fewest) {
        fewest = notes.refusals.size();
        best = std::move(notes);
        survey.assumed = std::move(assumed);
        graph = std::move(survey.graph);
      }
      if (fewest == 0) break;
    }
    notes = std::move(best);
    survey.graph = std::move(graph);
  }
  survey.refusals = std::move(notes.refusals);
  survey.problems = std::move(notes.problems);
  survey.found = std::move(notes.found);
  survey.unexamined_nodes = notes.unexamined_nodes;
}

/// Options that do not fit the model are a mistake, also if the model cannot be used.
void CheckOptions(const std::string& path, const std::vector<DeclaredInput>& inputs,
                  const ImportOptions& options) {
  try {
    InputShapes(inputs, options);
  } catch (const OpenShapeError&) {
    return;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

bool FindsOpen(const std::vector<FoundBound>& found) {
  return std::ranges::any_of(found, [](const FoundBound& each) { return each.symbol >= 0; });
}

/// Whether the network is the same one for all lengths of dimensions that stay open, and the types
/// that inputs and outputs have then.
void SurveyOpen(const std::string& path, const onnx::ModelProto& model,
                const ImportOptions& options, ModelSurvey& survey) {
  Graph open = ImportOpen(path, model, options);
  for (DescribedTensor& input : survey.inputs) {
    for (ValueId value : open.inputs) {
      if (open.values[value].name == input.name) input.type = TypeOf(open, value);
    }
  }
  for (size_t i = 0; i < open.outputs.size(); ++i) {
    survey.outputs.at(i).type = TypeOf(open, open.outputs[i].value);
  }
  for (FoundBound& found : survey.found) {
    if (found.symbol >= 0) found.least = open.symbols[static_cast<size_t>(found.symbol)].smallest;
  }
  ForgetInnerBounds(open);
  open.window = FindWindow(open);
  survey.open_graph = std::move(open);
}

}  // namespace

ModelSurvey SurveyOnnx(const std::string& path, const ImportOptions& options) {
  onnx::ModelProto model = ReadModel(path);
  try {
    KeepLastRows(model, options.last_rows);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  ModelSurvey survey = FileSurvey(model).Take();
  std::vector<DeclaredInput> inputs;
  for (const onnx::ValueInfoProto* input : InputsWithoutData(model.graph())) {
    try {
      inputs.push_back(ReadDeclaredInput(*input));
    } catch (const InputError&) {
      continue;  // a problem that the nodes' survey names
    }
  }
  survey.open = OpenDimensions(inputs);
  CheckOptions(path, inputs, options);
  survey.symbols = options.symbols;
  try {
    SurveyNodes(path, model, options, survey);
    const bool is_open = !options.symbols.empty() || FindsOpen(survey.found);
    if (survey.IsComplete() && is_open) SurveyOpen(path, model, options, survey);
  } catch (const std::bad_alloc&) {
    throw SystemError(fmt::format("{}: out of memory", path));
  } catch (const InputError& error) {
    survey.problems.push_back(error.what());
  }
  if (!survey.IsSupported()) survey.graph.reset();
  for (const NodeRefusal& refusal : survey.refusals) {
    for (OperatorUse& use : survey.operators) use.refused += use.op == refusal.op;
  }
  return survey;
}

}  // namespace bayloom::graph
