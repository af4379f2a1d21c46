// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// ONNX models of whole networks.

#include <fstream>
#include <iterator>

#include "tests/fuzz/reader.h"
#include "tests/graph/small_models.h"

namespace bayloom::fuzz {
namespace {

std::string ContentOf(const graph::SmallModel& model) {
  std::ifstream file(model.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::vector<std::string> Seeds() {
  return {ContentOf(graph::SmallConvolutionalNetwork()), ContentOf(graph::SmallTransformer()),
          ContentOf(graph::SmallDenseNetwork()), ContentOf(graph::SmallInceptionNetwork())};
}

}  // namespace bayloom::fuzz
