// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/package/decoder_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bayloom/codegen/runtime/bayloom_decoder.h"
#include "bayloom/graph/package/c_names.h"

namespace bayloom::graph {
namespace {

constexpr char kStepDeclarations[] = R"(
/* The network is a language model's decoder. A model holds the tokens that it has seen, at first
 * none and at most so many{limit}; logits are numbers for so many words. */
#define {name}_capacity {capacity}
#define {name}_words {words}

/* Takes tokens that follow those that the model holds. `logits`, where it is not null, gets those
 * of the word that comes next. Allocates nothing. A call that fails with any other code than
 * BAYLOOM_ERROR_MEMORY has no effect. */
int {name}_step({name}_model* model, const int64_t* ids, size_t count, float* logits);
/* How many tokens the model holds. {name}_run makes it hold those that it is given. */
size_t {name}_length(const {name}_model* model);
/* The model holds the first `length` ones of its tokens only{rewind}. */
int {name}_rewind({name}_model* model, size_t length);
/* `to` holds what `from` does. */
int {name}_copy({name}_model* from, {name}_model* to);
)";

constexpr char kSetDeclaration[] = R"(
/* Gives an input that is the same in all steps, such as what an encoder has computed: the one with
 * this number. Steps need all of them: {held}. The model holds no tokens afterwards. */
int {name}_set({name}_model* model, int input, const bayloom_input* value);
)";

constexpr char kSetFunction[] = R"(
define i32 @{name}_set(ptr %model, i32 %input, ptr %value) {{
  %code = tail call i32 @bayloom_decoder_set(ptr @network, ptr %model, i32 %input, ptr %value)
  ret i32 %code
}}
declare i32 @bayloom_decoder_set(ptr, ptr, i32, ptr)
)";

constexpr char kStepFunctions[] = R"(
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

/// Masks of fixed size are for all tokens that there may be.
int64_t FillOfMask(const Value& value, bool has_past) {
  if (has_past && !IsOpen(value)) {
    return tensor::IsFloat(value.dtype) ? BAYLOOM_PADDED_FLOAT_ONES : BAYLOOM_PADDED_ONES;
  }
  return tensor::IsFloat(value.dtype) ? BAYLOOM_FLOAT_ONES : BAYLOOM_ONES;
}

int64_t FillOf(DecoderInput input, const Value& value, bool has_past) {
  switch (input) {
    case DecoderInput::kTokens:
      return BAYLOOM_TOKENS;
    case DecoderInput::kPositions:
      return BAYLOOM_POSITIONS;
    case DecoderInput::kFirst:
      return BAYLOOM_FIRST;
    case DecoderInput::kLast:
      return BAYLOOM_LAST;
    case DecoderInput::kTotal:
      return BAYLOOM_TOTAL;
    case DecoderInput::kMask:
      return FillOfMask(value, has_past);
    case DecoderInput::kReplaced:
      return BAYLOOM_REPLACED;
    case DecoderInput::kHeld:
      return IsOpen(value) ? BAYLOOM_HELD_OPEN : BAYLOOM_HELD;
    case DecoderInput::kPast:
      break;
  }
  return BAYLOOM_PAST;
}

/// Where states are, and what of; those that a step replaces and what is held, too.
std::vector<std::pair<tensor::DType, std::vector<int64_t>>> MemoriesOf(const Graph& graph,
                                                                       const Decoder& decoder) {
  std::vector<std::pair<tensor::DType, std::vector<int64_t>>> memories;
  for (const State& state : graph.states) {
    const Value& memory = graph.values[state.memory];
    memories.emplace_back(memory.dtype, memory.shape);
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& input = graph.values[graph.inputs[i]];
    const bool is_held = decoder.inputs[i] == DecoderInput::kHeld;
    if (is_held || decoder.next[i] >= 0) memories.emplace_back(input.dtype, input.shape);
  }
  return memories;
}

bool AreAlike(const Decoder& a, const Decoder& b) {
  return a.inputs == b.inputs && a.next == b.next && a.window == b.window && a.logits == b.logits &&
         a.words == b.words;
}

bool IsForGpu(const PackageShape& shape) {
  return std::ranges::any_of(shape.variants, [](const PackageVariant& variant) {
    return variant.target.kind() == target::TargetKind::kNvidiaGpu;
  });
}

}  // namespace

std::optional<PackagedDecoder> DecoderOf(std::span<const PackageShape> shapes) {
  PackagedDecoder packaged;
  const Graph& first = shapes[0].network->graph;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const PackageShape& shape : shapes) {
    const Graph& graph = shape.network->graph;
    Result<Decoder> decoder = AsDecoder(graph);
    if (!decoder || IsForGpu(shape)) return std::nullopt;
    packaged.shapes.push_back(*std::move(decoder));
    const Decoder& own = packaged.shapes.back();
    const bool is_alike = AreAlike(own, packaged.shapes.front()) &&
                          MemoriesOf(graph, own) == MemoriesOf(first, packaged.shapes.front());
    if (!is_alike) return std::nullopt;
    // What takes the fewest tokens takes them up to its capacity.
    const int64_t count = own.Fewest(graph), capacity = own.Capacity(graph);
    if (count < fewest) packaged.capacity = 0;
    if (count <= fewest) packaged.capacity = std::max(packaged.capacity, capacity);
    fewest = std::min(fewest, count);
  }
  for (size_t i = 0; i < first.inputs.size(); ++i) {
    const Value& input = first.values[first.inputs[i]];
    packaged.fills.push_back(
        FillOf(packaged.shapes.front().inputs[i], input, packaged.shapes.front().past >= 0));
    if (packaged.shapes.front().inputs[i] == DecoderInput::kHeld) {
      packaged.held.emplace_back(static_cast<int>(i), input.name);
    }
  }
  return packaged;
}

std::string DecoderTable(IrText& ir, const PackagedDecoder& decoder,
                         std::span<const PlannedState> states) {
  const Decoder& first = decoder.shapes.front();
  const std::vector<int64_t> next(first.next.begin(), first.next.end());
  std::vector<std::string> places, shapes;
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
      "{{ {}, {}, i32 {}, i64 {}, i64 {}, i64 {}, i32 {}, {}, {} }}",
      ir.Numbers("i32", decoder.fills), ir.Numbers("i32", next), first.logits, first.words,
      decoder.capacity, first.window, states.size(), ir.Table("{ i64, i64, i64, i64 }", places),
      ir.Table("{ i32, i32, i64, i32 }", shapes));
  return ir.Table("{ ptr, ptr, i32, i64, i64, i64, i32, ptr, ptr }", {&table, 1});
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

std::string DecoderFunctions(const PackagedDecoder& decoder, const std::string& name) {
  const std::string set =
      decoder.held.empty() ? "" : fmt::format(kSetFunction, fmt::arg("name", name));
  return fmt::format(kStepFunctions, fmt::arg("name", name)) + set;
}

std::string DecoderDeclarations(const PackagedDecoder& decoder, const std::string& name) {
  const bool has_limit = decoder.capacity < std::numeric_limits<int64_t>::max();
  const bool replaces = decoder.shapes.front().Has(DecoderInput::kReplaced);
  std::string text = fmt::format(
      kStepDeclarations, fmt::arg("name", name), fmt::arg("words", decoder.shapes.front().words),
      fmt::arg("capacity", has_limit ? fmt::format("{}", decoder.capacity) : "INT64_MAX"),
      fmt::arg("limit", has_limit ? "" : " (INT64_MAX: any number)"),
      fmt::arg("rewind", decoder.shapes.front().window > 0
                             ? ": none, or as many as\n * the window still has all rows for"
                         : replaces ? ": all or none,\n * as each step replaces states"
                                    : ""));
  if (decoder.held.empty()) return text;
  std::vector<std::string> held;
  for (const auto& [input, tensor] : decoder.held) {
    held.push_back(fmt::format("{} ({})", input, InComment(tensor)));
  }
  return text + fmt::format(kSetDeclaration, fmt::arg("name", name),
                            fmt::arg("held", fmt::join(held, ", ")));
}

}  // namespace bayloom::graph
