// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// ONNX models, as protobuf messages: what the readers networks and operators have in common.

#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>

#include <iterator>
#include <limits>

#include "bayloom/graph/import.h"
#include "bayloom/graph/passes/passes.h"
#include "bayloom/graph/survey.h"
#include "bayloom/graph/tasks.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int64_t kNumbers[] = {0,
                                1,
                                -1,
                                2,
                                7,
                                13,
                                255,
                                1 << 20,
                                std::numeric_limits<int>::max(),
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
constexpr const char* kTexts[] = {"",         "x",    "Conv",     "Add",        "Loop",
                                  "image",    "axis", "auto_pad", "ai.onnx.ml", "*/ int x; /*",
                                  "\x1b[31m", "\xff", "../../x"};

template <typename Items>
auto& OneOf(Items& items, base::RandomStream& random) {
  return items[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(std::size(items))))];
}

/// Gives a field that is no list another value.
void SetField(Message& message, const FieldDescriptor& field, base::RandomStream& random) {
  const Reflection& access = *message.GetReflection();
  const int64_t number = OneOf(kNumbers, random);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return access.SetInt32(&message, &field, static_cast<int32_t>(number));
    case FieldDescriptor::CPPTYPE_INT64:
      return access.SetInt64(&message, &field, number);
    case FieldDescriptor::CPPTYPE_UINT64:
      return access.SetUInt64(&message, &field, static_cast<uint64_t>(number));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return access.SetFloat(&message, &field, static_cast<float>(number) / 3);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return access.SetDouble(&message, &field, static_cast<double>(number) / 3);
    case FieldDescriptor::CPPTYPE_ENUM:
      return access.SetEnumValue(&message, &field, static_cast<int>(random.UniformInt(20)));
    case FieldDescriptor::CPPTYPE_STRING:
      return access.SetString(&message, &field, OneOf(kTexts, random));
    default:
      return access.ClearField(&message, &field);
  }
}

/// Removes, repeats or exchanges items of a list.
void ChangeList(Message& message, const FieldDescriptor& field, base::RandomStream& random) {
  const Reflection& access = *message.GetReflection();
  const int size = access.FieldSize(message, &field);
  const auto any = [&] { return static_cast<int>(random.UniformInt(size)); };
  const int64_t number = OneOf(kNumbers, random);
  switch (random.UniformInt(3)) {
    case 0:
      return access.RemoveLast(&message, &field);
    case 1:
      return access.SwapElements(&message, &field, any(), any());
    default:
      break;
  }
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const int from = any();
    Message* added = access.AddMessage(&message, &field);
    added->CopyFrom(access.GetRepeatedMessage(message, &field, from));
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    access.SetRepeatedInt64(&message, &field, any(), number);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    access.SetRepeatedString(&message, &field, any(), OneOf(kTexts, random));
  }
}

/// Changes one of the fields that are set, of this message or of one within it.
void ChangeMessage(Message& message, base::RandomStream& random) {
  const Reflection& access = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  access.ListFields(message, &fields);
  if (fields.empty()) return;
  const FieldDescriptor& field = *OneOf(fields, random);
  const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const bool goes_in = is_message && random.UniformInt(8) != 0;
  if (field.is_repeated()) {
    const int at = static_cast<int>(random.UniformInt(access.FieldSize(message, &field)));
    if (goes_in) return ChangeMessage(*access.MutableRepeatedMessage(&message, &field, at), random);
    return ChangeList(message, field, random);
  }
  if (goes_in) return ChangeMessage(*access.MutableMessage(&message, &field), random);
  SetField(message, field, random);
}

/// Dimensions that the model leaves open get an extent.
graph::Graph ImportWithSizes(const std::string& path) {
  graph::ImportOptions options;
  try {
    return graph::ImportOnnx(path);
  } catch (const graph::OpenShapeError& error) {
    for (const graph::OpenDimension& dimension : error.dimensions()) {
      options.dimensions[dimension.name] = 2;
    }
  }
  return graph::ImportOnnx(path, options);
}

}  // namespace

void Read(const std::string& input) {
  const std::string path = WriteScratch("network.onnx", input);
  (void)graph::SurveyOnnx(path);
  graph::Graph graph = ImportWithSizes(path);
  graph::Optimize(graph);
  (void)graph::ExtractTasks(std::move(graph));
}

std::optional<std::string> MutateStructure(const std::string& input, base::RandomStream& random) {
  onnx::ModelProto model;
  if (!model.ParseFromString(input)) return std::nullopt;
  ChangeMessage(model, random);
  return model.SerializeAsString();
}

}  // namespace bayloom::fuzz
