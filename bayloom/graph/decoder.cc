// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "bayloom/base/single_line.h"
#include "bayloom/graph/passes/rewriting.h"

namespace bayloom::graph {
namespace {

Length LengthOf(const Graph& graph, const Value& value, size_t dimension) {
  const ValueId bound = value.BoundOf(dimension);
  return bound < 0 ? Length(value.shape[dimension]) : *graph.values[bound].size;
}

/// The length of a row, if all other dimensions are 1.
std::optional<Length> RowLength(const Graph& graph, const Value& value) {
  Length row = 1;
  for (size_t d = 0; d < value.shape.size(); ++d) {
    const Length length = LengthOf(graph, value, d);
    if (length == Length(1)) continue;
    if (row != Length(1)) return std::nullopt;
    row = length;
  }
  return row;
}

class DecoderFinder {
 public:
  explicit DecoderFinder(const Graph& graph) : graph_(graph) {}

  Result<Decoder> Find() {
    if (graph_.states.empty()) {
      return Error{"no output is an input with an open dimension and more elements behind it"};
    }
    past_ = graph_.states[0].start;
    taken_ = BehindPast(graph_.states[0]);
    for (const State& state : graph_.states) {
      if (state.start != past_ || BehindPast(state) != taken_) {
        return Error{fmt::format("{} has another length", Quoted(state.past))};
      }
    }
    decoder_.past = past_.AsSymbol();
    decoder_.tokens = taken_.AsSymbol();
    const std::optional<int64_t> fixed = taken_.AsConstant();
    if (fixed) decoder_.token_count = *fixed;
    const bool is_only = std::ssize(graph_.symbols) == (fixed ? 1 : 2);
    if (decoder_.past < 0 || (decoder_.tokens < 0 && !fixed) || !is_only) {
      return Error{"dimensions are open that are neither the length of the past nor of a step"};
    }
    if (std::string reason = ReadInputs(); !reason.empty()) return Error{std::move(reason)};
    if (std::string reason = ReadOutputs(); !reason.empty()) return Error{std::move(reason)};
    return decoder_;
  }

 private:
  std::string Quoted(ValueId value) const {
    return fmt::format("'{}' {}", base::SingleLine(graph_.values[value].name),
                       TypeOf(graph_, value));
  }

  Length BehindPast(const State& state) const {
    return LengthOf(graph_, graph_.values[state.present], static_cast<size_t>(state.axis)) -
           state.start;
  }

  std::string ReadInputs() {
    for (const ValueId input : graph_.inputs) {
      const std::optional<DecoderInput> kind = KindOf(input);
      if (!kind) return fmt::format("input {} does not follow from tokens", Quoted(input));
      decoder_.inputs.push_back(*kind);
    }
    const auto tokens = std::ranges::count(decoder_.inputs, DecoderInput::kTokens);
    return tokens == 1 ? "" : fmt::format("{} inputs are tokens", tokens);
  }

  std::optional<DecoderInput> KindOf(ValueId id) const {
    if (std::ranges::count(graph_.states, id, &State::past) > 0) return DecoderInput::kPast;
    const Value& value = graph_.values[id];
    const std::optional<Length> row = RowLength(graph_, value);
    const bool is_of_all = row == past_ + taken_;
    if (is_of_all && (!tensor::IsFloat(value.dtype) || value.dtype == tensor::DType::kFloat32)) {
      return DecoderInput::kMask;
    }
    const bool is_index =
        value.dtype == tensor::DType::kInt64 || value.dtype == tensor::DType::kInt32;
    if (row != taken_ || !is_index) return std::nullopt;
    return value.name.find("position") != std::string::npos ? DecoderInput::kPositions
                                                            : DecoderInput::kTokens;
  }

  std::string ReadOutputs() {
    decoder_.logits = -1;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId id = graph_.outputs[i].value;
      if (std::ranges::count(graph_.states, id, &State::present) > 0) continue;
      Value rows = graph_.values[id];
      const bool has_words = !rows.shape.empty() && rows.BoundOf(rows.shape.size() - 1) < 0 &&
                             rows.dtype == tensor::DType::kFloat32;
      if (!has_words || decoder_.logits >= 0) {
        return fmt::format("output {} is besides logits and states", Quoted(id));
      }
      decoder_.logits = static_cast<int>(i);
      decoder_.words = rows.shape.back();
      rows.shape.back() = 1;
      const std::optional<Length> row = RowLength(graph_, rows);
      decoder_.gives_last = row == Length(1);
      if (!decoder_.gives_last && row != taken_) {
        return fmt::format("output {} has no row for each token", Quoted(id));
      }
    }
    return decoder_.logits < 0 ? "no output is logits" : "";
  }

  const Graph& graph_;
  Decoder decoder_;
  Length past_ = 0, taken_ = 0;  // lengths of the past, and of what a step takes
};

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

std::string ToString(DecoderInput input) {
  switch (input) {
    case DecoderInput::kTokens:
      return "tokens";
    case DecoderInput::kPositions:
      return "positions";
    case DecoderInput::kMask:
      return "mask";
    case DecoderInput::kPast:
      break;
  }
  return "past";
}

int64_t Decoder::Capacity(const Graph& graph) const {
  const auto symbol = [&](int s) -> const Symbol& { return graph.symbols[static_cast<size_t>(s)]; };
  return symbol(past).largest + (tokens < 0 ? token_count : symbol(tokens).smallest);
}

std::optional<std::vector<int64_t>> Decoder::LengthsOf(const Graph& graph, int64_t held,
                                                       int64_t count) const {
  std::vector<int64_t> lengths(graph.symbols.size());
  lengths[static_cast<size_t>(past)] = held;
  if (tokens >= 0) lengths[static_cast<size_t>(tokens)] = count;
  if (tokens < 0 && count != token_count) return std::nullopt;
  for (size_t s = 0; s < lengths.size(); ++s) {
    if (!graph.symbols[s].Has(lengths[s])) return std::nullopt;
  }
  return lengths;
}

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

Result<Decoder> AsDecoder(const Graph& graph) { return DecoderFinder(graph).Find(); }

}  // namespace bayloom::graph
