// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::graph {

/// Names of element types as ONNX writes them ("float", "int64"); what is no tensor is written in
/// full ("seq(tensor(float))").
using TypeSet = std::vector<std::string_view>;

/// An input or output of an operator.
struct SchemaParameter {
  enum class Option : uint8_t { kSingle, kOptional, kVariadic };

  std::string_view name;
  Option option = Option::kSingle;
  bool is_homogeneous = true;  ///< variadic ones: all of one type
  int min_arity = 1;           ///< variadic ones: how many there are at least
  std::string_view type;       ///< the name of a constraint of the schema; empty: only `types`
  const TypeSet* types = nullptr;
};

struct SchemaAttribute {
  std::string_view name;
  onnx::AttributeProto::AttributeType type = onnx::AttributeProto::UNDEFINED;
  bool is_required = false;
  std::optional<std::string_view> default_value;  ///< of lists: words
};

/// What one version of an operator accepts.
struct Schema {
  std::string_view domain, name;  ///< the domain is empty for ONNX's own operators
  int since = 0;                  ///< the operator set it came with
  bool is_deprecated = false;     ///< the operator does not exist from that set on
  std::vector<SchemaParameter> inputs, outputs;
  std::vector<SchemaAttribute> attributes;
  std::string_view body;  ///< a FunctionProto in base64; empty: no function

  /// The parameter that argument number `i` belongs to; null: there is none.
  static const SchemaParameter* At(const std::vector<SchemaParameter>& parameters, size_t i);
};

/// The schema of the operator that holds in a version of its domain: the newest that is not newer
/// than the version. Null: there is none.
const Schema* FindSchema(std::string_view domain, std::string_view name, int version);

/// The operator set in which the operator came; 0: it is in none.
int FirstVersion(std::string_view domain, std::string_view name);

/// ONNX's newest operator set in the table.
int NewestOpset();

/// The definition of an operator that is a function; nullopt: it is not one.
std::optional<onnx::FunctionProto> FunctionBody(const Schema& schema);

/// The attribute's default; only if it has one.
onnx::AttributeProto DefaultOf(const SchemaAttribute& attribute);

}  // namespace bayloom::graph
