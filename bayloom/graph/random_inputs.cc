// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/random_inputs.h"

#include "bayloom/base/random.h"

namespace bayloom::graph {
namespace {

int64_t IntegerBound(tensor::DType dtype) {
  if (dtype == tensor::DType::kBool) return 2;
  return tensor::ByteSize(dtype) == 1 ? 100 : 1000;
}

}  // namespace

std::vector<tensor::HostTensor> MakeRandomInputs(const Graph& graph, uint64_t seed) {
  base::RandomStream random(seed);
  std::vector<tensor::HostTensor> inputs;
  for (ValueId input : graph.inputs) {
    const Value& value = graph.values[input];
    tensor::HostTensor tensor = tensor::HostTensor::Zeros(value.dtype, value.shape);
    const int64_t bound = IntegerBound(value.dtype);
    for (int64_t i = 0; i < tensor.ElementCount(); ++i) {
      if (tensor::IsFloat(value.dtype)) {
        tensor.Set(i, random.Normal());
      } else {
        tensor.SetInt(i, random.UniformInt(bound));
      }
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace bayloom::graph
