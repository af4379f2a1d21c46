// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/node_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/graph/import/onnx_tensor.h"

namespace bayloom::graph {
namespace {

using Option = SchemaParameter::Option;

const char* Plural(size_t count) { return count == 1 ? "" : "s"; }

/// How many arguments the parameters need at least.
size_t LeastCount(const std::vector<SchemaParameter>& parameters) {
  size_t least = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].option == Option::kSingle) least = i + 1;
    const bool is_variadic = parameters[i].option == Option::kVariadic;
    if (is_variadic && parameters[i].min_arity > 0) least = i + parameters[i].min_arity;
  }
  return least;
}

template <typename Names>
void CheckArguments(const Names& names, const std::vector<SchemaParameter>& parameters,
                    const char* what) {
  const size_t given = names.size(), least = LeastCount(parameters);
  if (given < least) {
    throw InputError(fmt::format("{} {}{}; the operator needs {}{}", given, what, Plural(given),
                                 least == parameters.size() ? "" : "at least ", least));
  }
  for (size_t i = 0; i < given; ++i) {
    const SchemaParameter* parameter = Schema::At(parameters, i);
    if (!parameter) {
      throw InputError(fmt::format("{} {}{}; the operator has at most {}", given, what,
                                   Plural(given), parameters.size()));
    }
    if (parameter->option == Option::kSingle && names[static_cast<int>(i)].empty()) {
      throw InputError(fmt::format("{} {} ('{}') is missing", what, i, parameter->name));
    }
  }
}

const SchemaAttribute* FindAttribute(const Schema& schema, const std::string& name) {
  for (const SchemaAttribute& attribute : schema.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

bool HasAttribute(const onnx::NodeProto& node, std::string_view name) {
  const auto& given = node.attribute();
  return std::any_of(given.begin(), given.end(), [&](const auto& a) { return a.name() == name; });
}

const char* KindName(int type) {
  switch (type) {
    case onnx::AttributeProto::INT:
      return "an integer";
    case onnx::AttributeProto::INTS:
      return "a list of integers";
    case onnx::AttributeProto::FLOAT:
      return "a number";
    case onnx::AttributeProto::FLOATS:
      return "a list of numbers";
    case onnx::AttributeProto::STRING:
      return "a string";
    case onnx::AttributeProto::STRINGS:
      return "a list of strings";
    case onnx::AttributeProto::TENSOR:
      return "a tensor";
    case onnx::AttributeProto::GRAPH:
      return "a graph";
    default:
      return "of another kind";
  }
}

void CheckAttributes(const onnx::NodeProto& node, const Schema& schema) {
  std::set<std::string> names;
  for (const onnx::AttributeProto& given : node.attribute()) {
    const std::string name = Printable(given.name());
    if (!names.insert(given.name()).second) {
      throw InputError(fmt::format("attribute {} is given twice", name));
    }
    const SchemaAttribute* attribute = FindAttribute(schema, given.name());
    if (!attribute) {
      if (given.name().starts_with("__")) continue;  // notes of tools, as ONNX has it
      throw InputError(fmt::format("attribute {}: the operator has none of this name in version {}",
                                   name, schema.since));
    }
    if (given.type() != attribute->type) {
      throw InputError(fmt::format("attribute {} has to be {}", name, KindName(attribute->type)));
    }
  }
  for (const SchemaAttribute& attribute : schema.attributes) {
    if (attribute.is_required && !HasAttribute(node, attribute.name)) {
      throw InputError(fmt::format("attribute {} is missing", attribute.name));
    }
  }
}

}  // namespace

std::string QualifiedName(const onnx::NodeProto& node) {
  const bool is_own = node.domain().empty() || node.domain() == "ai.onnx";
  return Printable(is_own ? node.op_type() : node.domain() + "." + node.op_type());
}

const Schema& SchemaOf(const std::string& domain, const std::string& op, int version) {
  const Schema* schema = FindSchema(domain, op, version);
  const bool is_own = domain.empty();
  const std::string place = is_own ? "operator set" : Printable(domain);
  if (schema && schema->is_deprecated) {
    throw InputError(fmt::format("the operator was removed in {} {}; the model uses {}", place,
                                 schema->since, version));
  }
  if (schema) return *schema;
  if (const int first = FirstVersion(domain, op); first > 0) {
    throw InputError(
        fmt::format("the operator exists since {} {}; the model uses {}", place, first, version));
  }
  throw InputError(
      is_own ? fmt::format("ONNX has no such operator (up to operator set {})", NewestOpset())
             : fmt::format("domain {}: there is no operator {} that Bayloom knows", place,
                           Printable(op)));
}

void CheckAgainstSchema(const onnx::NodeProto& node, const Schema& schema) {
  CheckArguments(node.input(), schema.inputs, "input");
  CheckArguments(node.output(), schema.outputs, "output");
  CheckAttributes(node, schema);
}

void CheckTypes(const Schema& schema, const std::vector<std::string>& types) {
  std::map<std::string_view, size_t> first_of;  // the first input of each constraint
  for (size_t i = 0; i < types.size(); ++i) {
    const SchemaParameter* parameter = Schema::At(schema.inputs, i);
    if (types[i].empty() || !parameter) continue;
    const TypeSet& allowed = *parameter->types;
    if (std::find(allowed.begin(), allowed.end(), types[i]) == allowed.end()) {
      throw InputError(fmt::format("input {} ('{}') may not be of {}; version {} has {}", i,
                                   parameter->name, types[i], schema.since,
                                   fmt::join(allowed, ", ")));
    }
    if (parameter->type.empty() || !parameter->is_homogeneous) continue;
    const size_t first = first_of.emplace(parameter->type, i).first->second;
    if (types[first] != types[i]) {
      throw InputError(fmt::format("inputs {} and {} have to be of one type, not {} and {}", first,
                                   i, types[first], types[i]));
    }
  }
}

onnx::NodeProto WithDefaults(onnx::NodeProto node, const Schema& schema) {
  for (const SchemaAttribute& attribute : schema.attributes) {
    if (attribute.default_value && !HasAttribute(node, attribute.name)) {
      *node.add_attribute() = DefaultOf(attribute);
    }
  }
  return node;
}

}  // namespace bayloom::graph
