// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/decoder_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bayloom/codegen/runtime/bayloom_decoder.h"

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
define i32 @{name}_step(ptr %model, ptr %ids, i64 %count, ptr %logits) {{
  %code = tail call i32 @bayloom_decoder_step(ptr @network, ptr %model, ptr %ids, i64 %count, ptr %logits)
  ret i32 %code
}}
define i64 @{name}_length(ptr %model) {{
  %length = tail call i64 @bayloom_decoder_length(ptr @network, ptr %model)
  ret i64 %length
}}
define i32 @{name}_rewind(ptr %model, i64 %length) {{
  %code = tail call i32 @bayloom_decoder_rewind(ptr @network, ptr %model, i64 %length)
  ret i32 %code
}}
define i32 @{name}_copy(ptr %from, ptr %to) {{
  %code = tail call i32 @bayloom_decoder_copy(ptr @network, ptr %from, ptr %to)
  ret i32 %code
}}
declare i32 @bayloom_decoder_step(ptr, ptr, ptr, i64, ptr)
declare i64 @bayloom_decoder_length(ptr, ptr)
declare i32 @bayloom_decoder_rewind(ptr, ptr, i64)
declare i32 @bayloom_decoder_copy(ptr, ptr, ptr)
)";

int64_t FillOf(DecoderInput input, bool is_float) {
  switch (input) {
    case DecoderInput::kTokens:
      return BAYLOOM_TOKENS;
    case DecoderInput::kPositions:
      return BAYLOOM_POSITIONS;
    case DecoderInput::kMask:
      return is_float ? BAYLOOM_FLOAT_ONES : BAYLOOM_ONES;
    case DecoderInput::kPast:
      break;
  }
  return BAYLOOM_PAST;
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

std::string DecoderTable(IrText& ir, const PackagedDecoder& decoder,
                         std::span<const PlannedState> states) {
  const Decoder& first = decoder.shapes.front();
  std::vector<int64_t> inputs;
  std::vector<std::string> places, shapes;
  for (size_t i = 0; i < first.inputs.size(); ++i) {
    inputs.push_back(FillOf(first.inputs[i], decoder.is_float[i]));
  }
  for (const PlannedState& state : states) {
    places.push_back(fmt::format("{{ i64 {}, i64 {}, i64 {}, i64 {} }}", state.position,
                                 state.outer, state.room, state.row_bytes));
  }
  for (const Decoder& shape : decoder.shapes) {
    const bool is_row_open = shape.tokens >= 0 && !shape.gives_last;
    shapes.push_back(fmt::format("{{ i32 {}, i32 {}, i64 {}, i32 {} }}", shape.past, shape.tokens,
                                 shape.token_count, is_row_open ? 1 : 0));
  }
  const std::string table = fmt::format(
      "{{ {}, i32 {}, i64 {}, i64 {}, i32 {}, {}, {} }}", ir.Numbers("i32", inputs), first.logits,
      first.words, decoder.capacity, states.size(), ir.Table("{ i64, i64, i64, i64 }", places),
      ir.Table("{ i32, i32, i64, i32 }", shapes));
  return ir.Table("{ ptr, i32, i64, i64, i32, ptr, ptr }", {&table, 1});
}

std::optional<LastLogits> LastLogitsOf(const Graph& graph, const NetworkPlan& plan) {
  const Result<Decoder> decoder = AsDecoder(graph);
  if (!decoder) return std::nullopt;
  LastLogits logits;
  logits.place.kind = Storage::Kind::kOutput;
  logits.place.position = decoder->logits;
  for (const OpenTensor& output : plan.open_outputs) {
    if (output.position == decoder->logits) logits.place = output.network;
  }
  logits.count = 1;
  if (!decoder->gives_last) {
    logits.count = decoder->tokens < 0 ? Length(decoder->token_count) : Length::Of(decoder->tokens);
  }
  logits.row_bytes = decoder->words * tensor::ByteSize(tensor::DType::kFloat32);
  return logits;
}

std::string DecoderFunctions(const std::string& name) {
  return fmt::format(kFunctions, fmt::arg("name", name));
}

std::string DecoderDeclarations(const PackagedDecoder& decoder, const std::string& name) {
  return fmt::format(kDeclarations, fmt::arg("name", name), fmt::arg("capacity", decoder.capacity),
                     fmt::arg("words", decoder.shapes.front().words));
}

}  // namespace bayloom::graph
