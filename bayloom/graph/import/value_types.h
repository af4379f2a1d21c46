// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <vector>

#include "bayloom/graph/import/named_value.h"
#include "bayloom/graph/import/schema_table.h"
#include "bayloom/graph/import/small_types.h"

namespace bayloom::graph {

// The element types that values have in the model. In the graph float16 and bfloat16 are float32,
// and small types their holders.

/// ONNX's name of the element type of that number: "float16", "int4"; empty: there is none.
std::string ElementTypeName(int type);

/// The type as schemas write it: "float16", "seq(tensor(float))"; empty: it is not known.
std::string SchemaTypeName(const NamedValue& value);

/// The number of the element type of a node's output, as its schema and attributes say; 0: they do
/// not. `inputs` are the numbers of the inputs' types, 0 where absent or not known.
int OutputType(const Schema& schema, const onnx::NodeProto& node, int output,
               const std::vector<int>& inputs);

/// The number of the type of an output that is imported as `tensor`.
int ImportedType(const Schema& schema, const onnx::NodeProto& node, int output,
                 const std::vector<int>& inputs, const tensor::Tensor& tensor,
                 const SmallType* small);

}  // namespace bayloom::graph
