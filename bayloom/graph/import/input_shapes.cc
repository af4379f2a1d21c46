// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/input_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

#include "bayloom/graph/extent_sum.h"
#include "bayloom/graph/import/frozen_input.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "bayloom/graph/import/small_types.h"

namespace bayloom::graph {
namespace {

/// Inputs that a message names; of the rest it says how many there are.
constexpr size_t kMaxNamedInputs = 3;

/// What exporters write where they know no name.
bool IsUnnamed(const std::string& symbol) {
  return symbol.empty() || symbol == "?" || symbol == "-1" || symbol == "None";
}

std::string PositionName(const std::string& input, size_t position) {
  return fmt::format("{}.{}", input, position);
}

std::string Describe(const OpenDimension& dimension) {
  const std::vector<std::string>& inputs = dimension.inputs;
  if (inputs.size() == 1 && dimension.name.starts_with(inputs[0] + ".")) {
    return Printable(dimension.name);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(inputs.size(), kMaxNamedInputs); ++i) {
    names.push_back(fmt::format("'{}'", Printable(inputs[i])));
  }
  const size_t rest = inputs.size() - names.size();
  return fmt::format("{} (input{} {}{})", Printable(dimension.name), inputs.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), rest > 0 ? fmt::format(" and {} others", rest) : "");
}

std::string InputNames(const std::vector<DeclaredInput>& inputs) {
  std::vector<std::string> names;
  for (const DeclaredInput& input : inputs) names.push_back(Printable(input.name));
  return names.empty() ? "it has none" : fmt::format("there are: {}", fmt::join(names, ", "));
}

}  // namespace

bool OpenDimension::IsBatch() const {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "n" || lower.ends_with(".0") || lower.find("batch") != std::string::npos;
}

std::map<std::string, int64_t> ExampleExtents(const std::vector<OpenDimension>& dimensions,
                                              int64_t extent) {
  std::map<std::string, int64_t> extents;
  const auto has = [](const OpenDimension& dimension, const char* word) {
    return dimension.name.find(word) != std::string::npos;
  };
  for (const OpenDimension& d : dimensions) extents[d.name] = d.IsBatch() ? 1 : extent;
  const bool any_past =
      std::ranges::any_of(dimensions, [&](const auto& d) { return has(d, "past"); });
  const bool any_present = std::ranges::any_of(dimensions, [&](const auto& d) {
    return has(d, "seq") && !has(d, "past") && !has(d, "total");
  });
  for (const OpenDimension& d : dimensions) {
    if (any_past && has(d, "total")) extents[d.name] = extent + (any_present ? extent : 1);
  }
  return extents;
}

std::vector<const onnx::ValueInfoProto*> InputsWithoutData(const onnx::GraphProto& graph) {
  std::unordered_set<std::string> known;
  for (const auto& initializer : graph.initializer()) known.insert(initializer.name());
  for (const auto& initializer : graph.sparse_initializer()) {
    known.insert(initializer.values().name());
  }
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!known.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

DeclaredInput ReadDeclaredInput(const onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) {
    throw InputError("only tensors are supported, not sequences, maps or optionals");
  }
  const auto& type = input.type().tensor_type();
  const SmallType* small = FindSmallType(type.elem_type());
  const tensor::DType dtype = small ? small->holder : DTypeFromOnnx(type.elem_type());
  DeclaredInput declared{input.name(), dtype, small, std::nullopt};
  if (!type.has_shape()) return declared;
  declared.shape.emplace();
  for (const auto& dim : type.shape().dim()) {
    DeclaredDimension& dimension = declared.shape->emplace_back();
    if (dim.has_dim_value() && dim.dim_value() != -1) {
      dimension.extent = dim.dim_value();
    } else {
      dimension.name = IsUnnamed(dim.dim_param())
                           ? PositionName(input.name(), declared.shape->size() - 1)
                           : dim.dim_param();
    }
  }
  return declared;
}

std::vector<OpenDimension> OpenDimensions(const std::vector<DeclaredInput>& inputs) {
  std::vector<OpenDimension> open;
  std::map<std::string, size_t> positions;
  for (const DeclaredInput& input : inputs) {
    if (!input.shape) continue;
    for (const DeclaredDimension& dimension : *input.shape) {
      if (dimension.extent) continue;
      const auto [known, is_new] = positions.emplace(dimension.name, open.size());
      if (is_new) open.push_back({dimension.name, {}});
      std::vector<std::string>& names = open[known->second].inputs;
      if (names.empty() || names.back() != input.name) names.push_back(input.name);
    }
  }
  return open;
}

std::string Describe(const std::vector<OpenDimension>& dimensions) {
  std::vector<std::string> texts;
  for (const OpenDimension& dimension : dimensions) texts.push_back(Describe(dimension));
  return fmt::format("{}", fmt::join(texts, ", "));
}

InputShapes::InputShapes(std::vector<DeclaredInput> inputs, const ImportOptions& options)
    : inputs_(std::move(inputs)) {
  std::unordered_set<std::string> names;
  for (const DeclaredInput& input : inputs_) {
    if (names.insert(input.name).second) continue;
    throw InputError(fmt::format("there are two inputs '{}'", Printable(input.name)));
  }
  CheckNames(options);
  for (const auto& [name, extent] : options.dimensions)
    BindDimension(name, extent, "given by its name");
  for (const Symbol& symbol : options.symbols) {
    BindDimension(symbol.name, symbol.largest, "given by its name");
  }
  BindGivenSums(options);
  for (const DeclaredInput& input : inputs_) {
    const auto given = options.input_shapes.find(input.name);
    if (given == options.input_shapes.end()) continue;
    BindShape(input, given->second, fmt::format("the shape of input '{}'", Printable(input.name)));
    shapes_[input.name] = given->second;
  }
  for (const DeclaredInput& input : inputs_) {
    const auto given = options.frozen_inputs.find(input.name);
    if (given != options.frozen_inputs.end()) Freeze(input, *given->second);
  }
  BindSums();
  CheckComplete(options);
}

std::vector<int64_t> InputShapes::ShapeOf(const DeclaredInput& input) const {
  if (const auto given = shapes_.find(input.name); given != shapes_.end()) return given->second;
  std::vector<int64_t> shape;
  for (const DeclaredDimension& dimension : *input.shape) {
    shape.push_back(dimension.extent ? *dimension.extent : extents_.at(dimension.name).value);
  }
  return shape;
}

std::optional<std::vector<int64_t>> InputShapes::KnownShapeOf(const DeclaredInput& value) const {
  if (!value.shape) return std::nullopt;
  std::vector<int64_t> shape;
  for (const DeclaredDimension& dimension : *value.shape) {
    const auto bound = extents_.find(dimension.name);
    if (!dimension.extent && bound == extents_.end()) return std::nullopt;
    shape.push_back(dimension.extent ? *dimension.extent : bound->second.value);
  }
  return shape;
}

std::shared_ptr<const tensor::HostTensor> InputShapes::Frozen(const std::string& name) const {
  const auto found = frozen_.find(name);
  return found == frozen_.end() ? nullptr : found->second;
}

void InputShapes::CheckNames(const ImportOptions& options) const {
  const std::vector<OpenDimension> open = OpenDimensions(inputs_);
  std::vector<std::string> given;
  for (const auto& [name, extent] : options.dimensions) given.push_back(name);
  for (const auto& [name, sum] : options.sums) given.push_back(name);
  for (const Symbol& symbol : options.symbols) given.push_back(symbol.name);
  for (const std::string& name : given) {
    const bool known = std::any_of(open.begin(), open.end(),
                                   [&](const auto& dimension) { return dimension.name == name; });
    if (known) continue;
    throw InputError(
        fmt::format("no input has an open dimension '{}'; {}", Printable(name),
                    open.empty() ? "the model leaves none open" : "there are: " + Describe(open)));
  }
  const auto check = [&](const std::string& name, const char* purpose) {
    const bool known = std::any_of(inputs_.begin(), inputs_.end(),
                                   [&](const DeclaredInput& input) { return input.name == name; });
    if (known) return;
    throw InputError(fmt::format("there is no input '{}' {}; {}", Printable(name), purpose,
                                 InputNames(inputs_)));
  };
  for (const auto& [name, shape] : options.input_shapes) check(name, "to give a shape to");
  for (const auto& [name, tensor] : options.frozen_inputs) check(name, "to freeze");
}

void InputShapes::BindDimension(const std::string& name, int64_t extent,
                                const std::string& source) {
  const auto [known, is_new] = extents_.emplace(name, Extent{extent, source});
  if (is_new || known->second.value == extent) return;
  throw InputError(fmt::format("dimension '{}' cannot be both {} ({}) and {} ({})", Printable(name),
                               known->second.value, known->second.source, extent, source));
}

std::optional<int64_t> InputShapes::ExtentOf(const std::string& name) const {
  const auto known = extents_.find(name);
  return known == extents_.end() ? std::nullopt : std::optional(known->second.value);
}

void InputShapes::BindGivenSums(const ImportOptions& options) {
  std::vector<std::pair<std::string, int64_t>> given;
  for (const auto& [name, text] : options.sums) {
    const std::optional<int64_t> sum =
        ExtentOfSum(text, [&](const std::string& term) { return ExtentOf(term); });
    if (!sum) {
      throw InputError(fmt::format("'{}={}' is no sum of numbers and of sizes that are given",
                                   Printable(name), Printable(text)));
    }
    given.emplace_back(name, *sum);
  }
  for (const auto& [name, sum] : given) BindDimension(name, sum, "given as a sum");
}

void InputShapes::BindSums() {
  const auto extent_of = [&](const std::string& name) { return ExtentOf(name); };
  for (const OpenDimension& dimension : OpenDimensions(inputs_)) {
    const std::optional<int64_t> sum = ExtentOfSum(dimension.name, extent_of);
    if (sum) BindDimension(dimension.name, *sum, "the sum that it is called");
  }
}

void InputShapes::BindShape(const DeclaredInput& input, const std::vector<int64_t>& shape,
                            const std::string& source) {
  if (!input.shape) return;
  if (input.shape->size() != shape.size()) {
    throw InputError(fmt::format("input '{}': a shape of {} dimensions was given; the model has {}",
                                 Printable(input.name), shape.size(), input.shape->size()));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    const DeclaredDimension& dimension = (*input.shape)[d];
    if (!dimension.extent) BindDimension(dimension.name, shape[d], source);
  }
}

void InputShapes::Freeze(const DeclaredInput& input, const tensor::HostTensor& given) {
  std::vector<std::optional<int64_t>> declared;
  if (const auto shape = shapes_.find(input.name); shape != shapes_.end()) {
    declared.assign(shape->second.begin(), shape->second.end());
  } else if (input.shape) {
    for (const DeclaredDimension& dimension : *input.shape) {
      const auto bound = extents_.find(dimension.name);
      declared.push_back(!dimension.extent && bound != extents_.end()
                             ? std::optional(bound->second.value)
                             : dimension.extent);
    }
  }
  const bool any_shape = !input.shape && !shapes_.contains(input.name);
  try {
    tensor::HostTensor tensor = ConvertFrozen(given, input.dtype);
    if (!any_shape) tensor.shape = FitFrozenShape(tensor, declared);
    BindShape(input, tensor.shape, fmt::format("the values of input '{}'", Printable(input.name)));
    frozen_[input.name] = std::make_shared<const tensor::HostTensor>(std::move(tensor));
  } catch (const FrozenValueError& error) {
    throw InputError(fmt::format("input '{}' cannot be frozen to these values: {}",
                                 Printable(input.name), error.what()));
  }
}

void InputShapes::CheckComplete(const ImportOptions& options) const {
  std::vector<DeclaredInput> asked;
  std::vector<std::string> shapeless, texts;
  for (const DeclaredInput& input : inputs_) {
    if (options.input_shapes.contains(input.name) || options.frozen_inputs.contains(input.name)) {
      continue;
    }
    asked.push_back(input);
    if (!input.shape) shapeless.push_back(input.name);
  }
  std::vector<OpenDimension> missing = OpenDimensions(asked);
  std::erase_if(missing, [&](const OpenDimension& d) { return extents_.contains(d.name); });
  std::unordered_set<std::string> open;
  for (const OpenDimension& d : OpenDimensions(inputs_)) open.insert(d.name);
  std::erase_if(missing, [&](const OpenDimension& d) {  // sums of others, which are asked for
    const auto any = [&](const std::string& name) {
      return open.contains(name) ? std::optional<int64_t>(0) : std::nullopt;
    };
    return ExtentOfSum(d.name, any).has_value();
  });
  if (!missing.empty()) {
    texts.push_back(fmt::format("the model leaves {} open: {}",
                                missing.size() == 1 ? "a dimension" : "dimensions",
                                Describe(missing)));
  }
  for (const std::string& name : shapeless) {
    texts.push_back(fmt::format("the model gives input '{}' no shape", Printable(name)));
  }
  if (texts.empty()) return;
  throw OpenShapeError(fmt::format("{}", fmt::join(texts, "; ")), std::move(missing),
                       std::move(shapeless));
}

}  // namespace bayloom::graph
