// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bayloom/tensor/interpreter.h"
#include "tests/graph/host_tensors.h"
#include "tests/graph/model_writer.h"

namespace bayloom::graph {

/// A model of one node.
struct OneOperator {
  using Value = ModelWriter::AttributeValue;

  std::string op;
  std::vector<std::optional<tensor::HostTensor>> inputs;
  ModelWriter::Attributes attributes = {};
  std::string domain = "";
  int opset = 17;
  std::set<int> constants = {};  ///< inputs that are initializers of the model
  int outputs = 1;
};

/// Imports the model and runs it, interpreted and compiled; both have to agree. Throws InputError
/// where the importer refuses.
std::vector<tensor::HostTensor> RunOperator(const OneOperator& model);

tensor::HostTensor Integers(tensor::DType dtype, std::vector<int64_t> shape,
                            const std::vector<int64_t>& values);
/// Integers in [low, high).
tensor::HostTensor RandomIntegers(tensor::DType dtype, std::vector<int64_t> shape, int64_t low,
                                  int64_t high, uint64_t seed);

void ExpectClose(const tensor::HostTensor& actual, const std::vector<double>& expected,
                 double tolerance = 1e-5);

}  // namespace bayloom::graph
