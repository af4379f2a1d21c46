// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/graph/model_writer.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "bayloom/base/file.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/import/onnx_tensor.h"
#include "tests/temporary_folder.h"

namespace bayloom::graph {
namespace {

void SetAttribute(onnx::AttributeProto& proto, const std::string& name,
                  const ModelWriter::AttributeValue& value) {
  using onnx::AttributeProto;
  proto.set_name(name);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    proto.set_type(AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* number = std::get_if<float>(&value)) {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(*text);
  } else {
    const auto& integers = std::get<std::vector<int64_t>>(value);
    proto.set_type(AttributeProto::INTS);
    proto.mutable_ints()->Add(integers.begin(), integers.end());
  }
}

}  // namespace

ModelWriter::ModelWriter(int opset) : model_(std::make_unique<onnx::ModelProto>()) {
  model_->set_ir_version(8);
  model_->add_opset_import()->set_version(opset);
  model_->mutable_graph()->set_name("model");
}

ModelWriter::ModelWriter(ModelWriter&&) noexcept = default;
ModelWriter::~ModelWriter() = default;

std::string ModelWriter::NewName() { return fmt::format("v{}", names_++); }

std::string ModelWriter::Input(tensor::DType dtype, const std::vector<int64_t>& shape) {
  onnx::ValueInfoProto& input = *model_->mutable_graph()->add_input();
  input.set_name(NewName());
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(DTypeToOnnx(dtype));
  auto& dims = *type.mutable_shape();
  for (int64_t extent : shape) dims.add_dim()->set_dim_value(extent);
  return input.name();
}

std::string ModelWriter::Constant(const tensor::HostTensor& data) {
  onnx::TensorProto& initializer = *model_->mutable_graph()->add_initializer();
  initializer.set_name(NewName());
  initializer.set_data_type(DTypeToOnnx(data.dtype));
  initializer.mutable_dims()->Add(data.shape.begin(), data.shape.end());
  initializer.set_raw_data(data.data.data(), data.data.size());
  return initializer.name();
}

std::string ModelWriter::ConstantOf4Bits(const tensor::HostTensor& data, int onnx_type) {
  std::string packed(static_cast<size_t>((data.ElementCount() + 1) / 2), '\0');
  for (int64_t i = 0; i < data.ElementCount(); ++i) {
    char& byte = packed[static_cast<size_t>(i / 2)];
    byte = static_cast<char>(byte | ((data.GetInt(i) & 15) << (i % 2 * 4)));
  }
  onnx::TensorProto& initializer = *model_->mutable_graph()->add_initializer();
  initializer.set_name(NewName());
  initializer.set_data_type(onnx_type);
  initializer.mutable_dims()->Add(data.shape.begin(), data.shape.end());
  initializer.set_raw_data(packed);
  return initializer.name();
}

std::vector<std::string> ModelWriter::Node(const std::string& op,
                                           const std::vector<std::string>& inputs,
                                           const Attributes& attributes, const std::string& domain,
                                           int outputs) {
  const bool is_known = std::ranges::any_of(
      model_->opset_import(), [&](const auto& opset) { return opset.domain() == domain; });
  if (!is_known) {
    onnx::OperatorSetIdProto& opset = *model_->add_opset_import();
    opset.set_domain(domain);
    opset.set_version(1);
  }
  onnx::NodeProto& node = *model_->mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  for (const std::string& input : inputs) node.add_input(input);
  for (const auto& [name, value] : attributes) SetAttribute(*node.add_attribute(), name, value);
  for (int i = 0; i < outputs; ++i) node.add_output(NewName());
  return {node.output().begin(), node.output().end()};
}

void ModelWriter::Output(const std::string& value) {
  model_->mutable_graph()->add_output()->set_name(value);
}

Graph ModelWriter::Import(const ImportOptions& options) const {
  const TemporaryFolder folder;
  const std::string path = folder / "model.onnx";
  Save(path);
  return ImportOnnx(path, options);
}

void ModelWriter::Save(const std::string& path) const {
  base::WriteFile(path, model_->SerializeAsString());
}

}  // namespace bayloom::graph
