// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/import/functions.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <set>
#include <unordered_map>

#include "bayloom/graph/import/node_order.h"
#include "bayloom/graph/import/opset_versions.h"

namespace bayloom::graph {
namespace {

// Fields that the messages of ONNX 1.12 do not have.
constexpr int kNodeOverload = 8, kFunctionOverload = 13, kFunctionDefaults = 11;

/// The texts or serialized messages of a field, whether the message's type knows it or not.
std::vector<std::string> Contents(const google::protobuf::Message& message, int number) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto* known = message.GetDescriptor()->FindFieldByNumber(number);
  if (known && !known->is_repeated()) return {reflection.GetString(message, known)};
  std::vector<std::string> contents;
  for (int i = 0; known && i < reflection.FieldSize(message, known); ++i) {
    contents.push_back(reflection.GetRepeatedMessage(message, known, i).SerializeAsString());
  }
  const auto& fields = reflection.GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    const bool is_wanted = field.number() == number &&
                           field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (is_wanted) contents.push_back(field.length_delimited());
  }
  return contents;
}

std::string OverloadOf(const google::protobuf::Message& message, int number) {
  const std::vector<std::string> contents = Contents(message, number);
  return contents.empty() ? "" : contents.back();
}

using Attributes = std::unordered_map<std::string, onnx::AttributeProto>;

/// The call's attributes by name, and the function's defaults of the others.
Attributes AttributesOf(const onnx::FunctionProto& function, const onnx::NodeProto& call) {
  Attributes attributes;
  for (const auto& attribute : call.attribute()) attributes.emplace(attribute.name(), attribute);
  for (const std::string& content : Contents(function, kFunctionDefaults)) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(content)) attributes.emplace(attribute.name(), attribute);
  }
  return attributes;
}

void Instantiate(onnx::NodeProto& node, const Attributes& attributes,
                 const std::set<std::string>& absent) {
  for (int a = node.attribute_size(); a-- > 0;) {
    onnx::AttributeProto& attribute = *node.mutable_attribute(a);
    if (!attribute.ref_attr_name().empty()) {
      const auto actual = attributes.find(attribute.ref_attr_name());
      if (actual == attributes.end()) {
        node.mutable_attribute()->DeleteSubrange(a, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = actual->second;
      attribute.set_name(name);
    } else if (attribute.has_g()) {
      for (onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node()) {
        Instantiate(inner, attributes, absent);
      }
    }
  }
  for (std::string& input : *node.mutable_input()) {
    if (absent.contains(input)) input.clear();
  }
}

}  // namespace

LocalFunctions::LocalFunctions(const onnx::ModelProto& model) {
  for (const auto& function : model.functions()) {
    functions_[{DomainOf(function.domain()), function.name(),
                OverloadOf(function, kFunctionOverload)}] = &function;
  }
}

const onnx::FunctionProto* LocalFunctions::Find(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found =
      functions_.find({DomainOf(node.domain()), node.op_type(), OverloadOf(node, kNodeOverload)});
  return found == functions_.end() ? nullptr : found->second;
}

std::vector<onnx::NodeProto> InstantiateBody(const onnx::FunctionProto& function,
                                             const onnx::NodeProto& call) {
  const Attributes attributes = AttributesOf(function, call);
  std::set<std::string> absent;
  for (int i = 0; i < function.input_size(); ++i) {
    if (i >= call.input_size() || call.input(i).empty()) absent.insert(function.input(i));
  }
  std::vector<onnx::NodeProto> nodes(function.node().begin(), function.node().end());
  for (onnx::NodeProto& node : nodes) {
    if (node.name().empty()) node.set_name(NodeName(call) + "." + node.op_type());
    Instantiate(node, attributes, absent);
  }
  return nodes;
}

}  // namespace bayloom::graph
