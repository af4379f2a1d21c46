// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/decoder/step_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bayloom/graph/decoder/tensor_lengths.h"

namespace bayloom::graph {
namespace {

bool IsIndex(const Value& value) {
  return value.dtype == tensor::DType::kInt64 || value.dtype == tensor::DType::kInt32;
}

bool IsNamed(const Value& value, std::string_view word) {
  return value.name.find(word) != std::string::npos;
}

/// Of the tokens that a decoder has seen, not of what an encoder has.
bool IsNamedMask(const Value& value) {
  return IsNamed(value, "mask") && !IsNamed(value, "encoder");
}

/// What a number of one element says of the step, by its name.
std::optional<DecoderInput> NumberKind(const Value& value) {
  if (IsNamed(value, "seqlens_k")) return DecoderInput::kLast;
  if (IsNamed(value, "total") || IsNamed(value, "kv_seqlen") || IsNamed(value, "nonpad")) {
    return DecoderInput::kTotal;
  }
  const bool is_first = IsNamed(value, "position") || IsNamed(value, "write_ind") ||
                        IsNamed(value, "past_len") || IsNamed(value, "start");
  return is_first ? std::optional(DecoderInput::kFirst) : std::nullopt;
}

class StepInputFinder {
 public:
  StepInputFinder(const Graph& graph, const std::optional<Length>& past)
      : graph_(graph), past_(past) {}

  Result<StepInputs> Find(const std::optional<Length>& taken) {
    std::optional<Length> of_tokens = taken;
    for (const ValueId input : graph_.inputs) {
      const Value& value = graph_.values[input];
      const std::optional<Length> row = RowLength(graph_, value);
      const bool has_place = IsNamed(value, "position") || IsNamed(value, "mask") ||
                             (row == Length(1) && NumberKind(value));
      // What is one number may be anything, unless there is a past.
      const bool is_named = IsNamed(value, "id") || IsNamed(value, "token");
      if (!of_tokens && row && IsIndex(value) && !has_place && is_named) of_tokens = row;
    }
    if (!of_tokens)
      return Error{"no input is tokens: integers, one for each, called ids or tokens"};
    inputs_.taken = *of_tokens;
    for (const ValueId input : graph_.inputs) inputs_.kinds.push_back(KindOf(input));
    const auto tokens = std::ranges::count(inputs_.kinds, std::optional(DecoderInput::kTokens));
    if (tokens != 1) return Error{fmt::format("{} inputs are tokens", tokens)};
    return std::move(inputs_);
  }

 private:
  std::optional<DecoderInput> KindOf(ValueId input) const {
    if (std::ranges::count(graph_.states, input, &State::past) > 0) return DecoderInput::kPast;
    const Value& value = graph_.values[input];
    const std::optional<Length> row = RowLength(graph_, value);
    if (!row) return std::nullopt;
    const bool has_ones = !tensor::IsFloat(value.dtype) || value.dtype == tensor::DType::kFloat32;
    if (has_ones && IsOfAll(value, *row)) return DecoderInput::kMask;
    if (!IsIndex(value) || IsNamed(value, "mask")) return std::nullopt;
    if (row == inputs_.taken && IsNamed(value, "position")) return DecoderInput::kPositions;
    if (row == Length(1) && NumberKind(value)) return NumberKind(value);
    return row == inputs_.taken ? std::optional(DecoderInput::kTokens) : std::nullopt;
  }

  /// Whether it has an element for each token that may have been seen.
  bool IsOfAll(const Value& value, const Length& row) const {
    if (past_ && row == *past_ + inputs_.taken) return true;
    if (!IsNamedMask(value)) return false;
    return past_ ? row == (*past_ + inputs_.taken).Range(graph_.symbols).largest
                 : row == inputs_.taken || row.AsConstant();
  }

  const Graph& graph_;
  const std::optional<Length> past_;
  StepInputs inputs_;
};

}  // namespace

Result<StepInputs> FindStepInputs(const Graph& graph, const std::optional<Length>& past,
                                  const std::optional<Length>& taken) {
  return StepInputFinder(graph, past).Find(taken);
}

}  // namespace bayloom::graph
