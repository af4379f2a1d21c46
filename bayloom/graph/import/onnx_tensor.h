// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tensor/interpreter.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace bayloom::graph {

/// The element type for ONNX's number of it; throws InputError if it is not supported.
tensor::DType DTypeFromOnnx(int data_type);
int DTypeToOnnx(tensor::DType dtype);
/// ONNX's name of the element type: "float" for float32.
std::string OnnxName(tensor::DType dtype);

struct DataFolder;

/// The tensor's data; that of a small type (small_types.h) as its holder's. Throws InputError,
/// naming what is wrong with the tensor; nothing is allocated before its size was checked against
/// the data at hand.
tensor::HostTensor TensorFromOnnx(const onnx::TensorProto& proto, const DataFolder& folder);
/// A sparse tensor with its zeros.
tensor::HostTensor TensorFromSparse(const onnx::SparseTensorProto& proto, const DataFolder& folder);

/// Text from a file as part of a message (base::SingleLine). Names that programs read stay as they
/// are.
std::string Printable(const std::string& text);

}  // namespace bayloom::graph
