// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/decoder_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bayloom::graph {
namespace {

constexpr char kDeclarations[] = R"(
/* The network is a language model's decoder. A model holds the tokens that it has seen, at first
 * none and at most so many; logits are numbers for so many words. */
#define {name}_capacity {capacity}
#define {name}_words {words}

/* Takes tokens that follow those that the model holds. `logits`, where it is not null, gets those
 * of the word that comes next. Allocates nothing. A call that fails with any other code than
 * BAYLOOM_ERROR_MEMORY has no effect. */
int {name}_step({name}_model* model, const int64_t* ids, size_t count, float* logits);
/* How many tokens the model holds. {name}_run makes it hold those that it is given. */
size_t {name}_length(const {name}_model* model);
/* The model holds the first `length` ones of its tokens only. */
int {name}_rewind({name}_model* model, size_t length);
/* `to` holds what `from` does. */
int {name}_copy({name}_model* from, {name}_model* to);
)";

constexpr char kFunctions[] = R"(
int {name}_step({name}_model* model, const int64_t* ids, size_t count, float* logits) {{
  return bayloom_decoder_step(&kNetwork, (bayloom_model*)model, ids, count, logits);
}}

size_t {name}_length(const {name}_model* model) {{
  return bayloom_decoder_length(&kNetwork, (const bayloom_model*)model);
}}

int {name}_rewind({name}_model* model, size_t length) {{
  return bayloom_decoder_rewind(&kNetwork, (bayloom_model*)model, length);
}}

int {name}_copy({name}_model* from, {name}_model* to) {{
  return bayloom_decoder_copy(&kNetwork, (bayloom_model*)from, (bayloom_model*)to);
}}
)";

constexpr char kTables[] = R"(
static const int kDecoderInputs[] = {{{inputs}}};
static const bayloom_state kStates[] = {{{states}}};
static const bayloom_step_shape kStepShapes[] = {{{shapes}}};
static const bayloom_decoder kDecoder = {{
    kDecoderInputs, {logits}, {words}, {capacity}, {state_count}, kStates, kStepShapes}};
)";

const char* NameOf(DecoderInput input, bool is_float) {
  switch (input) {
    case DecoderInput::kTokens:
      return "BAYLOOM_TOKENS";
    case DecoderInput::kPositions:
      return "BAYLOOM_POSITIONS";
    case DecoderInput::kMask:
      return is_float ? "BAYLOOM_FLOAT_ONES" : "BAYLOOM_ONES";
    case DecoderInput::kPast:
      break;
  }
  return "BAYLOOM_PAST";
}

/// Where states are, and what of.
std::vector<std::pair<tensor::DType, std::vector<int64_t>>> MemoriesOf(const Graph& graph) {
  std::vector<std::pair<tensor::DType, std::vector<int64_t>>> memories;
  for (const State& state : graph.states) {
    const Value& memory = graph.values[state.memory];
    memories.emplace_back(memory.dtype, memory.shape);
  }
  return memories;
}

bool AreAlike(const Decoder& a, const Decoder& b) {
  return a.inputs == b.inputs && a.logits == b.logits && a.words == b.words;
}

}  // namespace

std::optional<PackagedDecoder> DecoderOf(std::span<const PackageShape> shapes) {
  PackagedDecoder packaged;
  const Graph& first = shapes[0].network->graph;
  for (const PackageShape& shape : shapes) {
    const Graph& graph = shape.network->graph;
    Result<Decoder> decoder = AsDecoder(graph);
    if (!decoder || MemoriesOf(graph) != MemoriesOf(first)) return std::nullopt;
    packaged.shapes.push_back(*std::move(decoder));
    if (!AreAlike(packaged.shapes.back(), packaged.shapes.front())) return std::nullopt;
    // Tokens can be taken one by one up to there, if they can be at all.
    const int64_t capacity = packaged.shapes.back().Capacity(graph);
    packaged.capacity = &shape == &shapes[0] ? capacity : std::min(packaged.capacity, capacity);
  }
  for (const ValueId input : first.inputs) {
    packaged.is_float.push_back(tensor::IsFloat(first.values[input].dtype));
  }
  return packaged;
}

std::string DecoderTables(const PackagedDecoder& decoder, std::span<const PlannedState> states) {
  const Decoder& first = decoder.shapes.front();
  std::string inputs, places, shapes;
  for (size_t i = 0; i < first.inputs.size(); ++i) {
    inputs += fmt::format("{}, ", NameOf(first.inputs[i], decoder.is_float[i]));
  }
  for (const PlannedState& state : states) {
    places += fmt::format("{{{}, {}, {}, {}}}, ", state.position, state.outer, state.room,
                          state.row_bytes);
  }
  for (const Decoder& shape : decoder.shapes) {
    const bool is_row_open = shape.tokens >= 0 && !shape.gives_last;
    shapes += fmt::format("{{{}, {}, {}, {}}}, ", shape.past, shape.tokens, shape.token_count,
                          is_row_open ? 1 : 0);
  }
  return fmt::format(kTables, fmt::arg("inputs", inputs), fmt::arg("states", places),
                     fmt::arg("shapes", shapes), fmt::arg("logits", first.logits),
                     fmt::arg("words", first.words), fmt::arg("capacity", decoder.capacity),
                     fmt::arg("state_count", states.size()));
}

std::string LastLogits(const Graph& graph, const NetworkPlan& plan,
                       const std::function<std::string(const Storage&)>& address) {
  const Result<Decoder> decoder = AsDecoder(graph);
  if (!decoder) return "";
  Storage place = {Storage::Kind::kOutput, decoder->logits};
  for (const OpenTensor& output : plan.open_outputs) {
    if (output.position == decoder->logits) place = output.network;
  }
  const std::string count = decoder->gives_last   ? "1"
                            : decoder->tokens < 0 ? fmt::format("{}", decoder->token_count)
                                                  : fmt::format("lengths[{}]", decoder->tokens);
  const int64_t row_bytes = decoder->words * tensor::ByteSize(tensor::DType::kFloat32);
  return fmt::format("  if (last != NULL) memcpy(last, {} + ({} - 1) * {}, {});\n", address(place),
                     count, row_bytes, row_bytes);
}

std::string DecoderFunctions(const std::string& name) {
  return fmt::format(kFunctions, fmt::arg("name", name));
}

std::string DecoderDeclarations(const PackagedDecoder& decoder, const std::string& name) {
  return fmt::format(kDeclarations, fmt::arg("name", name), fmt::arg("capacity", decoder.capacity),
                     fmt::arg("words", decoder.shapes.front().words));
}

}  // namespace bayloom::graph
