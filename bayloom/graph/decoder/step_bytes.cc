// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// What steps of decoders read.
#include <algorithm>
#include <limits>
#include <map>

#include "bayloom/graph/decoder.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

int64_t ExtentOf(const Graph& graph, const tensor::Iter& iter, std::span<const int64_t> lengths) {
  if (!iter.bound.is_open()) return iter.extent;
  const int64_t size = graph.values[iter.bound.size].size->Evaluate(lengths) + iter.bound.beyond;
  return std::min(iter.extent, (size + iter.bound.step - 1) / iter.bound.step);
}

/// At most so many different elements are read there.
int64_t ElementsRead(const Graph& graph, const Node& node, const tensor::Expr& load,
                     std::span<const int64_t> lengths) {
  int64_t elements = 1;
  for (size_t d = 0; d < load->operands.size(); ++d) {
    const int64_t extent = graph.values[load->index].shape[d];
    const tensor::Expr& index = load->operands[d];
    int64_t places = LoadsOf(index).empty() ? extent : 1;
    for (size_t i = 0; i < node.stage.iters.size() && places < extent; ++i) {
      if (!MentionsIter(index, static_cast<int>(i))) continue;
      places *= ExtentOf(graph, node.stage.iters[i], lengths);
    }
    elements *= std::min(places, extent);
  }
  return elements;
}

}  // namespace

int64_t Decoder::StateBytes(const Graph& graph, int64_t past, int64_t count) {
  int64_t bytes = 0;
  for (const State& state : graph.states) {
    const Value& memory = graph.values[state.memory];
    const int64_t rows = memory.ElementCount() / memory.shape[static_cast<size_t>(state.axis)];
    bytes += (past + count) * rows * tensor::ByteSize(memory.dtype);
  }
  return bytes;
}

int64_t Decoder::ConstantBytes(const Graph& graph, std::span<const int64_t> lengths) {
  std::map<ValueId, int64_t> read;  // elements
  for (const Node& node : graph.nodes) {
    if (node.IsAlias() || node.kind == NodeKind::kCall) {
      for (const ValueId operand : OperandsOf(node)) read[operand] = kAll;
      continue;
    }
    for (const tensor::Expr& load : LoadsOf(node.stage.value)) {
      if (!graph.values[load->index].constant) continue;
      int64_t& elements = read[load->index];
      elements = std::max(elements, ElementsRead(graph, node, load, lengths));
    }
  }
  int64_t bytes = 0;
  for (const auto& [value, elements] : read) {
    const Value& constant = graph.values[value];
    if (!constant.constant) continue;
    bytes += std::min(elements, constant.ElementCount()) * tensor::ByteSize(constant.dtype);
  }
  return bytes;
}

int64_t Decoder::InputBytes(const Graph& graph, DecoderInput kind) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != kind) continue;
    const Value& value = graph.values[graph.inputs[i]];
    bytes += value.ElementCount() * tensor::ByteSize(value.dtype);
  }
  return bytes;
}

}  // namespace bayloom::graph
