// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// Sequences of tensors, whose lengths are known when the model is imported, and optional values.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "bayloom/graph/operators/apply.h"
#include "bayloom/graph/operators/control_flow.h"

namespace bayloom::graph {
namespace {

constexpr int64_t kMaxLength = 1 << 16;

void SetSequence(OperatorContext& context, Sequence elements, int type, int output = 0) {
  if (std::ssize(elements) > kMaxLength) {
    context.Refuse(fmt::format("a sequence of more than {} tensors", kMaxLength));
  }
  context.SetOutput(output, NamedValue{.sequence = std::move(elements), .type = type});
}

/// The position that an input names, of `count` ones; negative ones count from the end.
int64_t PositionIn(OperatorContext& context, int input, int64_t count) {
  const int64_t given = context.IntInput(input);
  const int64_t position = given < 0 ? given + count : given;
  if (position < 0 || position >= count) {
    context.Refuse(fmt::format("position {} of {}", given, count));
  }
  return position;
}

void SequenceConstruct(OperatorContext& context) {
  SetSequence(context, context.Inputs(), context.InputType(0));
}

void SequenceEmpty(OperatorContext& context) {
  const int64_t type = context.Int("dtype", onnx::TensorProto::FLOAT);
  SetSequence(context, {}, type > 0 && type < 1000 ? static_cast<int>(type) : 0);
}

void SequenceAt(OperatorContext& context) {
  const Sequence sequence = context.InputSequence(0);
  const int64_t position = PositionIn(context, 1, std::ssize(sequence));
  context.SetOutput(0, NamedValue{.tensor = sequence[position], .type = context.InputType(0)});
}

void SequenceInsert(OperatorContext& context) {
  Sequence sequence = context.InputSequence(0);
  const tensor::Tensor added = context.Input(1);
  const int held = context.InputType(0), type = context.InputType(1);
  const bool differs = (held != 0 && type != 0 && held != type) ||
                       (!sequence.empty() && sequence.front().dtype() != added.dtype());
  if (differs) context.Refuse("the tensor is not of the sequence's type");
  const int64_t places = std::ssize(sequence) + 1;
  int64_t position = places - 1;
  if (context.HasInput(2)) {
    const int64_t given = context.IntInput(2);
    position = given < 0 ? given + places - 1 : given;
    if (position < 0 || position >= places) {
      context.Refuse(fmt::format("position {} in a sequence of {}", given, places - 1));
    }
  }
  sequence.insert(sequence.begin() + position, added);
  SetSequence(context, std::move(sequence), held == 0 ? type : held);
}

void SequenceErase(OperatorContext& context) {
  Sequence sequence = context.InputSequence(0);
  const int64_t count = std::ssize(sequence);
  if (count == 0) context.Refuse("the sequence is empty");
  const int64_t position = context.HasInput(1) ? PositionIn(context, 1, count) : count - 1;
  sequence.erase(sequence.begin() + position);
  SetSequence(context, std::move(sequence), context.InputType(0));
}

void SequenceLength(OperatorContext& context) {
  context.SetOutput(0, IntConstant(context, {std::ssize(context.InputSequence(0))}, {}));
}

/// How many places along the axis each part takes.
std::vector<int64_t> PartLengths(OperatorContext& context, int64_t extent) {
  if (!context.HasInput(1)) return std::vector<int64_t>(std::min(extent, kMaxLength + 1), 1);
  const std::vector<int64_t> given = context.IntsInput(1);
  if (!context.Input(1).shape().empty()) return given;
  const int64_t length = given.front();
  if (length < 1 || extent / length > kMaxLength) {
    context.Refuse(fmt::format("{} places in parts of {}", extent, length));
  }
  std::vector<int64_t> lengths(extent / length, length);
  if (extent % length > 0) lengths.push_back(extent % length);
  return lengths;
}

void SplitToSequence(OperatorContext& context) {
  const tensor::Tensor x = context.Input(0);
  const int axis = context.Axis("axis", 0, Rank(x));
  const bool drops_axis = !context.HasInput(1) && context.Int("keepdims", 1) == 0;
  Sequence parts;
  int64_t start = 0;
  for (const int64_t length : PartLengths(context, x.shape()[axis])) {
    if (length < 0 || start > x.shape()[axis] - length) {
      context.Refuse(fmt::format("the parts are longer than axis {}", axis));
    }
    std::vector<int64_t> shape = x.shape();
    shape[axis] = length;
    tensor::Tensor part = context.builder().Map("split", shape, [&](Exprs place) {
      place[axis] = place[axis] + tensor::Expr(start);
      return x.At(std::move(place));
    });
    if (drops_axis) {
      shape.erase(shape.begin() + axis);
      part = context.builder().View(part, shape);
    }
    parts.push_back(std::move(part));
    start += length;
    if (std::ssize(parts) > kMaxLength) break;  // refused below
  }
  if (start != x.shape()[axis] && std::ssize(parts) <= kMaxLength) {
    context.Refuse(fmt::format("the parts are shorter than axis {}", axis));
  }
  SetSequence(context, std::move(parts), context.InputType(0));
}

void ConcatFromSequence(OperatorContext& context) {
  const Sequence sequence = context.InputSequence(0);
  if (sequence.empty()) context.Refuse("the sequence is empty");
  const bool adds_axis = context.Int("new_axis", 0) != 0;
  const int axis = context.Axis("axis", std::nullopt, Rank(sequence[0]) + (adds_axis ? 1 : 0));
  std::vector<std::optional<tensor::Tensor>> parts;
  for (const tensor::Tensor& element : sequence) {
    if (element.dtype() != sequence[0].dtype()) context.Refuse("the tensors differ in type");
    std::vector<int64_t> shape = element.shape();
    if (adds_axis && shape != sequence[0].shape()) context.Refuse("the tensors differ in shape");
    if (adds_axis) shape.insert(shape.begin() + axis, 1);
    parts.emplace_back(context.builder().View(element, shape));
  }
  context.SetOutput(
      0, NamedValue{.tensor = ApplyOperator(context, "Concat", parts, {{{"axis", int64_t{axis}}}}),
                    .type = context.InputType(0)});
}

/// The body for each element of the first sequence, and those of the others at the same place;
/// tensors are the same for all.
void SequenceMap(OperatorContext& context) {
  const int64_t count = std::ssize(context.InputSequence(0));
  std::vector<Sequence> results(context.output_count());
  std::vector<int> types(context.output_count(), 0);
  for (int64_t k = 0; k < count; ++k) {
    std::vector<NamedValue> arguments;
    for (int i = 0; i < context.input_count(); ++i) {
      NamedValue argument = context.InputValue(i);
      if (argument.sequence) {
        const Sequence& sequence = *argument.sequence;
        if (std::ssize(sequence) != count) context.Refuse("the sequences differ in length");
        argument = {.tensor = sequence[k], .type = argument.type};
      }
      arguments.push_back(std::move(argument));
    }
    const std::vector<NamedValue> values = context.Subgraph("body", arguments);
    if (values.size() != results.size()) {
      context.Refuse(
          fmt::format("the body has {} outputs, the node {}", values.size(), results.size()));
    }
    for (size_t r = 0; r < results.size(); ++r) {
      if (!values[r].tensor) context.Refuse("the body returns a sequence");
      results[r].push_back(*values[r].tensor);
      types[r] = values[r].type;
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    SetSequence(context, std::move(results[r]), types[r], static_cast<int>(r));
  }
}

/// What is given is there: values that may be absent at run time do not exist here.
void OptionalHasElement(OperatorContext& context) {
  const bool is_there = context.input_count() > 0 && !context.node().input(0).empty();
  context.SetOutput(0, Filled(context, is_there ? 1 : 0, tensor::DType::kBool, {}));
}

void OptionalGetElement(OperatorContext& context) { context.SetOutput(0, context.InputValue(0)); }

}  // namespace

std::span<const Operator> SequenceOperators() {
  static const Operator operators[] = {
      {"ConcatFromSequence", ConcatFromSequence}, {"OptionalGetElement", OptionalGetElement},
      {"OptionalHasElement", OptionalHasElement}, {"SequenceAt", SequenceAt},
      {"SequenceConstruct", SequenceConstruct},   {"SequenceEmpty", SequenceEmpty},
      {"SequenceErase", SequenceErase},           {"SequenceInsert", SequenceInsert},
      {"SequenceLength", SequenceLength},         {"SequenceMap", SequenceMap},
      {"SplitToSequence", SplitToSequence},
  };
  return operators;
}

}  // namespace bayloom::graph
