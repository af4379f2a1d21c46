// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include "bayloom/graph/decoder/replaced_states.h"
#include "bayloom/graph/decoder/step_inputs.h"
#include "bayloom/graph/decoder/tensor_lengths.h"

namespace bayloom::graph {
namespace {

class DecoderFinder {
 public:
  explicit DecoderFinder(const Graph& graph) : graph_(graph) {}

  Result<Decoder> Find() {
    if (!graph_.fixed_caches.empty()) return Error{graph_.fixed_caches};
    for (const auto step :
         {&DecoderFinder::ReadGrowing, &DecoderFinder::ReadInputs, &DecoderFinder::FindLogits,
          &DecoderFinder::ReadStates, &DecoderFinder::ReadHeld, &DecoderFinder::ReadOutputs,
          &DecoderFinder::ReadSymbols}) {
      if (std::string reason = (this->*step)(); !reason.empty()) return Error{std::move(reason)};
    }
    return decoder_;
  }

 private:
  std::string Quoted(ValueId value) const { return graph::Quoted(graph_, value); }
  const Value& Input(size_t i) const { return graph_.values[graph_.inputs[i]]; }

  Length BehindPast(const State& state) const {
    return LengthOf(graph_, graph_.values[state.present], static_cast<size_t>(state.axis)) -
           state.start;
  }

  std::string ReadGrowing() {
    for (const State& state : graph_.states) {
      if (!past_) {
        past_ = state.start;
        taken_ = BehindPast(state);
      }
      if (state.start != *past_ || BehindPast(state) != taken_) {
        return fmt::format("{} has another length", Quoted(state.past));
      }
    }
    return "";
  }

  /// What follows from the tokens; what else there is stays open.
  std::string ReadInputs() {
    Result<StepInputs> inputs =
        FindStepInputs(graph_, past_, past_ ? std::optional(taken_) : std::nullopt);
    if (!inputs) return inputs.error().message;
    taken_ = inputs->taken;
    kinds_ = std::move(inputs->kinds);
    return "";
  }

  bool IsPresent(size_t output) const {
    return std::ranges::count(graph_.states, graph_.outputs[output].value, &State::present) > 0;
  }
  /// Whether it is an input as it is, or a constant: merged models have such outputs.
  bool IsPassedOn(size_t output) const {
    const ValueId value = graph_.outputs[output].value;
    return std::ranges::count(graph_.inputs, value) > 0 || graph_.values[value].constant;
  }

  /// Whether an output has a row of float32 for each token, or for the last one.
  bool HasRows(size_t output, bool* gives_last) const {
    Value rows = graph_.values[graph_.outputs[output].value];
    const bool has_words = !rows.shape.empty() && rows.BoundOf(rows.shape.size() - 1) < 0 &&
                           rows.dtype == tensor::DType::kFloat32;
    if (!has_words) return false;
    rows.shape.back() = 1;
    const std::optional<Length> row = RowLength(graph_, rows);
    *gives_last = row == Length(1);
    return *gives_last || row == taken_;
  }

  /// The output called so, or the first that has the form.
  std::string FindLogits() {
    decoder_.logits = -1;
    bool is_named = false, gives_last = false;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (IsPresent(i) || IsPassedOn(i) || !HasRows(i, &gives_last)) continue;
      const bool has_name = graph_.outputs[i].name.find("logits") != std::string::npos;
      if (decoder_.logits >= 0 && (is_named || !has_name)) continue;
      is_named = has_name;
      decoder_.logits = static_cast<int>(i);
      decoder_.gives_last = gives_last;
      decoder_.words = graph_.values[graph_.outputs[i].value].shape.back();
    }
    if (decoder_.words == 1) return "the logits are for one word only";
    return decoder_.logits < 0 ? "no output is logits, which have a row for each token" : "";
  }

  std::string ReadStates() {
    std::vector<ValueId> left;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const bool is_passed_on =
          std::ranges::count(graph_.outputs, graph_.inputs[i], &GraphOutput::value) > 0;
      if (!kinds_[i] && !is_passed_on) left.push_back(graph_.inputs[i]);
    }
    std::vector<int> outputs;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const bool is_known = static_cast<int>(i) == decoder_.logits || IsPresent(i) || IsPassedOn(i);
      if (!is_known) outputs.push_back(static_cast<int>(i));
    }
    const std::map<ValueId, int> replaced = FindReplaced(graph_, left, outputs);
    decoder_.next.assign(kinds_.size(), -1);
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const auto found = replaced.find(graph_.inputs[i]);
      if (found == replaced.end()) continue;
      kinds_[i] = DecoderInput::kReplaced;
      decoder_.next[i] = found->second;
    }
    if (past_ || !replaced.empty()) return "";
    return "no output is an input with an open dimension and more elements behind it, and none "
           "replaces an input";
  }

  /// Whether no dimension changes with the tokens, nor any element.
  bool StaysTheSame(const Value& value) const {
    for (size_t d = 0; d < value.shape.size(); ++d) {
      const Length length = LengthOf(graph_, value, d);
      const int symbol = length.AsSymbol();
      if (!length.AsConstant() && symbol < 0) return false;
      if (symbol >= 0 && (length == taken_ || (past_ && length == *past_))) return false;
    }
    const auto is_named = [&](std::string_view word) {
      return value.name.find(word) != std::string::npos;
    };
    return is_named("encoder") || (tensor::IsFloat(value.dtype) && !is_named("mask"));
  }

  std::string ReadHeld() {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (!kinds_[i] && StaysTheSame(Input(i))) kinds_[i] = DecoderInput::kHeld;
      if (!kinds_[i]) {
        return fmt::format("input {} does not follow from tokens", Quoted(graph_.inputs[i]));
      }
      decoder_.inputs.push_back(*kinds_[i]);
    }
    return "";
  }

  std::string ReadOutputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const int output = static_cast<int>(i);
      const bool is_known = output == decoder_.logits || IsPresent(i) || IsPassedOn(i) ||
                            std::ranges::count(decoder_.next, output) > 0;
      if (!is_known) {
        return fmt::format("output {} is besides logits and states",
                           Quoted(graph_.outputs[i].value));
      }
    }
    return "";
  }

  std::string ReadSymbols() {
    decoder_.past = past_ ? past_->AsSymbol() : -1;
    decoder_.tokens = taken_.AsSymbol();
    const std::optional<int64_t> fixed = taken_.AsConstant();
    if (fixed) decoder_.token_count = *fixed;
    const bool keeps_window =
        decoder_.past >= 0 &&
        graph_.symbols[static_cast<size_t>(decoder_.past)].Has(graph_.window - 1);
    if (keeps_window) decoder_.window = graph_.window;
    bool is_known = (!past_ || decoder_.past >= 0) && (decoder_.tokens >= 0 || fixed);
    for (int s = 0; s < std::ssize(graph_.symbols); ++s) {
      is_known = is_known && (s == decoder_.past || s == decoder_.tokens || IsOfHeld(s));
    }
    return is_known ? ""
                    : "dimensions are open that are neither the length of the past nor of a "
                      "step";
  }

  bool IsOfHeld(int symbol) const {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      for (size_t d = 0; decoder_.inputs[i] == DecoderInput::kHeld && d < Input(i).shape.size();
           ++d) {
        if (LengthOf(graph_, Input(i), d).AsSymbol() == symbol) return true;
      }
    }
    return false;
  }

  const Graph& graph_;
  Decoder decoder_;
  std::vector<std::optional<DecoderInput>> kinds_;  // by input
  std::optional<Length> past_;                      // how long the past is, if there is one
  Length taken_ = 0;                                // how many tokens a step takes
};

}  // namespace

std::string ToString(DecoderInput input) {
  switch (input) {
    case DecoderInput::kTokens:
      return "tokens";
    case DecoderInput::kPositions:
      return "positions";
    case DecoderInput::kFirst:
      return "first position";
    case DecoderInput::kLast:
      return "last position";
    case DecoderInput::kTotal:
      return "number of tokens";
    case DecoderInput::kMask:
      return "mask";
    case DecoderInput::kReplaced:
      return "state";
    case DecoderInput::kHeld:
      return "held";
    case DecoderInput::kPast:
      break;
  }
  return "past";
}

bool Decoder::Has(DecoderInput input) const { return std::ranges::count(inputs, input) > 0; }

int64_t Decoder::Fewest(const Graph& graph) const {
  return tokens < 0 ? token_count : graph.symbols[static_cast<size_t>(tokens)].smallest;
}

int64_t Decoder::Capacity(const Graph& graph) const {
  if (past < 0 || window > 0) return std::numeric_limits<int64_t>::max();
  return graph.symbols[static_cast<size_t>(past)].largest + Fewest(graph);
}

std::optional<std::vector<int64_t>> Decoder::LengthsOf(const Graph& graph, int64_t held,
                                                       int64_t count) const {
  std::vector<int64_t> lengths;
  for (const Symbol& symbol : graph.symbols) lengths.push_back(symbol.largest);
  if (past >= 0) lengths[static_cast<size_t>(past)] = held;
  if (tokens >= 0) lengths[static_cast<size_t>(tokens)] = count;
  if (tokens < 0 && count != token_count) return std::nullopt;
  for (size_t s = 0; s < lengths.size(); ++s) {
    if (!graph.symbols[s].Has(lengths[s])) return std::nullopt;
  }
  return lengths;
}

Result<Decoder> AsDecoder(const Graph& graph) { return DecoderFinder(graph).Find(); }

}  // namespace bayloom::graph
