// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/operators/recurrence.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/codegen/abi.h"
#include "bayloom/tensor/operators.h"

namespace bayloom::graph {

tensor::Expr RecurrentDirection::Activate(int k, const tensor::Expr& x) const {
  return activations[k](clip ? tensor::Clip(x, -*clip, *clip) : x);
}

tensor::Expr RecurrentStep::Keep(const tensor::Expr& next, size_t k, const Exprs& place) const {
  if (!mask) return next;
  const tensor::Expr goes_on = mask->At(place);
  return tensor::Select(LiteralLike(0, goes_on) < goes_on, next, state[k].At(place));
}

int64_t HiddenSize(OperatorContext& context, int64_t otherwise) {
  const int64_t hidden = context.Int("hidden_size", otherwise);
  if (hidden != otherwise || hidden < 1) {
    context.Refuse(
        fmt::format("attribute hidden_size = {}: the weights are those of {}", hidden, otherwise));
  }
  return hidden;
}

void CheckInputShape(OperatorContext& context, int input, const std::vector<int64_t>& expected) {
  const tensor::Tensor tensor = context.Input(input);
  if (tensor.shape() == expected) return;
  context.Refuse(fmt::format("input {} is {}, but has to be {}", input,
                             ToString(tensor.dtype(), tensor.shape()),
                             ToString(tensor.dtype(), expected)));
}

tensor::Tensor GateVector(OperatorContext& context, const tensor::Tensor& x, int direction,
                          int first, int rows, int64_t hidden, int64_t width) {
  const tensor::Tensor vector =
      context.builder().Map("pack", {rows, width}, [&](const Exprs& place) {
        const tensor::Expr element =
            x(direction, (place[0] + tensor::Expr(first)) * tensor::Expr(hidden) + place[1]);
        if (hidden == width) return element;
        return tensor::Select(place[1] < tensor::Expr(hidden), element, LiteralLike(0, element));
      });
  return context.builder().View(vector, {rows * width});
}

std::optional<tensor::Tensor> SumOfBiases(OperatorContext& context,
                                          const RecurrentDirection& direction) {
  if (!direction.input_bias) return std::nullopt;
  return Elementwise(context, "bias", {*direction.input_bias, *direction.recurrent_bias},
                     [](const Exprs& e) { return e[0] + e[1]; });
}

tensor::Tensor GatesOf(OperatorContext& context, const RecurrentDirection& direction,
                       const RecurrentStep& step, int gates) {
  if (step.state.empty()) return step.product;
  const tensor::Tensor recurrent = direction.recurrent(step.state[0], 0, gates);
  return context.builder().Map(
      context.label() + ".gates", recurrent.shape(),
      [&](const Exprs& place) { return recurrent.At(place) + step.product.At(place); });
}

namespace {

constexpr int kBias = 3, kSequenceLens = 4;

/// Which of the input's axes is what.
struct SequenceShape {
  int64_t steps, batch, inputs;
  bool batch_first;
};

class RecurrentImporter {
 public:
  RecurrentImporter(OperatorContext& context, const RecurrentCell& cell, int64_t hidden,
                    const GateProductMaker& product)
      : context_(context),
        builder_(context.builder()),
        cell_(cell),
        product_(product),
        hidden_(hidden),
        sequence_(ReadSequence(context)),
        unrolling_(builder_.UnrollingOf(sequence_.steps)) {}

  void Run() {
    const std::string direction = context_.String("direction", "forward");
    const bool both = direction == "bidirectional";
    if (!both && direction != "forward" && direction != "reverse") {
      context_.RefuseAttribute("direction", direction, "there is no such direction");
    }
    directions_ = both ? 2 : 1;
    CheckShapes();
    ReadActivations();
    ChooseWidth();
    rows_ = RowsOfInput();
    ReadLengths();
    for (int d = 0; d < directions_; ++d) RunDirection(d, d == 1 || direction == "reverse");
    if (unrolling_.is_open) {
      SetOpenOutputs();
    } else {
      SetOutputs();
    }
  }

 private:
  static SequenceShape ReadSequence(OperatorContext& context) {
    const std::vector<int64_t> shape = context.Input(0).shape();
    if (shape.size() != 3) context.Refuse("input 0 has to have 3 dimensions");
    const bool batch_first = context.Int("layout", 0) != 0;
    const SequenceShape sequence{shape[batch_first], shape[!batch_first], shape[2], batch_first};
    if (sequence.steps == 0 || sequence.batch == 0) context.Refuse("the sequence is empty");
    return sequence;
  }

  tensor::DType dtype() const { return context_.Input(0).dtype(); }

  void CheckShape(int input, const std::vector<int64_t>& expected) const {
    if (context_.HasInput(input)) CheckInputShape(context_, input, expected);
  }

  void CheckShapes() const {
    CheckShape(kBias, {directions_, 2 * cell_.gates * hidden_});
    CheckShape(kSequenceLens, {sequence_.batch});
    for (int input : cell_.state_inputs) {
      CheckShape(input, sequence_.batch_first
                            ? std::vector<int64_t>{sequence_.batch, directions_, hidden_}
                            : std::vector<int64_t>{directions_, sequence_.batch, hidden_});
    }
    if (cell_.peephole_input >= 0) CheckShape(cell_.peephole_input, {directions_, 3 * hidden_});
  }

  /// [steps * batch, inputs]
  tensor::Tensor RowsOfInput() {
    tensor::Tensor x = context_.Input(0);
    if (sequence_.batch_first && sequence_.batch > 1) x = Permute(context_, x, {1, 0, 2});
    return builder_.View(x, {sequence_.steps * sequence_.batch, sequence_.inputs});
  }

  void ReadLengths() {
    if (!context_.HasInput(kSequenceLens)) return;
    if (const tensor::HostTensor* known = context_.ConstantInput(kSequenceLens)) {
      bool all_whole = true;
      for (int64_t b = 0; b < sequence_.batch; ++b) {
        const int64_t length = known->GetInt(b);
        all_whole = all_whole && length == sequence_.steps;
        if (length < 0 || length > sequence_.steps) {
          context_.Refuse(
              fmt::format("a length of {} in sequences of {}", length, sequence_.steps));
        }
      }
      if (all_whole) return;
    }
    lengths_ = context_.Input(kSequenceLens);
    const tensor::Tensor mask = builder_.Map(
        Label("mask"), {sequence_.steps, sequence_.batch, width_}, [&](const Exprs& place) {
          return tensor::Select(IsInside(place[0], place[1]), tensor::Literal(1, dtype()),
                                tensor::Literal(0, dtype()));
        });
    mask_ = builder_.View(mask, {sequence_.steps * sequence_.batch, width_});
  }

  /// Whether the step is one of the sequence's.
  tensor::Expr IsInside(const tensor::Expr& step, const tensor::Expr& batch) const {
    return step < tensor::Cast(tensor::DType::kInt64, (*lengths_)(batch));
  }

  /// The element if the step is one of the sequence's, else 0.
  tensor::Expr WithinSequence(const tensor::Expr& step, const tensor::Expr& batch,
                              const tensor::Expr& element) const {
    if (!lengths_) return element;
    return tensor::Select(IsInside(step, batch), element, LiteralLike(0, element));
  }

  void ReadActivations() {
    std::vector<std::string> defaults;
    for (int d = 0; d < directions_; ++d) {
      defaults.insert(defaults.end(), cell_.activations.begin(), cell_.activations.end());
    }
    activations_ = NamedActivation::Read(context_, defaults);
  }

  void ChooseWidth() {
    const int64_t lanes = target::kBufferAlignment / tensor::ByteSize(dtype());
    width_ = (hidden_ + lanes - 1) / lanes * lanes;
    // Elements that no one reads must not grow to infinity either: times a weight of zero, that
    // is no number.
    const bool bounded =
        std::none_of(activations_.begin(), activations_.end(),
                     [](const NamedActivation& function) { return function.ExceedsOneAtZero(); });
    if (!bounded) width_ = hidden_;
  }

  RecurrentDirection ReadDirection(int d) {
    RecurrentDirection direction;
    direction.width = width_;
    direction.input = product_(context_, {1, d, hidden_, width_, sequence_.inputs});
    direction.recurrent = product_(context_, {2, d, hidden_, width_, width_});
    const auto vector = [&](int input, int first, int rows) {
      return GateVector(context_, context_.Input(input), d, first, rows, hidden_, width_);
    };
    if (context_.HasInput(kBias)) {
      direction.input_bias = vector(kBias, 0, cell_.gates);
      direction.recurrent_bias = vector(kBias, cell_.gates, cell_.gates);
    }
    if (cell_.peephole_input >= 0 && context_.HasInput(cell_.peephole_input)) {
      direction.peepholes = vector(cell_.peephole_input, 0, 3);
    }
    const auto first = activations_.begin() + d * std::ssize(cell_.activations);
    direction.activations = {first, first + std::ssize(cell_.activations)};
    if (context_.HasAttribute("clip")) direction.clip = context_.Float("clip");
    return direction;
  }

  /// Empty if all states are known to be zero.
  std::vector<tensor::Tensor> InitialState(int d) {
    const auto is_zero = [&](int input) {
      if (!context_.HasInput(input)) return true;
      const tensor::HostTensor* known = context_.ConstantInput(input);
      if (!known) return false;
      for (int64_t i = 0; i < known->ElementCount(); ++i) {
        if (known->Get(i) != 0) return false;
      }
      return true;
    };
    const std::vector<int>& inputs = cell_.state_inputs;
    if (!mask_ && std::all_of(inputs.begin(), inputs.end(), is_zero)) return {};
    std::vector<tensor::Tensor> state;
    for (int input : inputs) {
      state.push_back(is_zero(input) ? Zeros() : StateRows(context_.Input(input), d));
    }
    return state;
  }

  tensor::Tensor Zeros() {
    return builder_.Map(Label("zero"), {sequence_.batch, width_},
                        [&](const Exprs&) { return tensor::Literal(0, dtype()); });
  }

  /// [batch, width] of an initial state.
  tensor::Tensor StateRows(const tensor::Tensor& x, int d) {
    const bool in_rows =
        hidden_ == width_ && (!sequence_.batch_first || directions_ == 1 || sequence_.batch == 1);
    if (in_rows) {
      const tensor::Tensor rows = builder_.View(x, {directions_ * sequence_.batch, hidden_});
      return builder_.Rows(rows, d * sequence_.batch, sequence_.batch);
    }
    return builder_.Map(Label("state"), {sequence_.batch, width_}, [&](const Exprs& place) {
      const tensor::Expr element =
          sequence_.batch_first ? x(place[0], d, place[1]) : x(d, place[0], place[1]);
      if (hidden_ == width_) return element;
      return tensor::Select(place[1] < tensor::Expr(hidden_), element, LiteralLike(0, element));
    });
  }

  /// [steps * batch, columns] with the steps in reverse order.
  tensor::Tensor ReverseSteps(const tensor::Tensor& rows) {
    const std::vector<int64_t> shape = {sequence_.steps, sequence_.batch, rows.shape()[1]};
    const tensor::Tensor steps = builder_.View(rows, shape);
    const tensor::Tensor reversed = builder_.Map(Label("reverse"), shape, [&](const Exprs& place) {
      return steps(FromEnd(place[0]), place[1], place[2]);
    });
    return builder_.View(reversed, rows.shape());
  }

  tensor::Expr FromEnd(const tensor::Expr& step) const { return CountDown(sequence_.steps, step); }

  /// A sequence that may have fewer steps than are unrolled is reversed before its steps, and not
  /// by their order: they all begin with the first one.
  void RunDirection(int d, bool reverse) {
    const RecurrentDirection direction = ReadDirection(d);
    const bool reverses_rows = reverse && unrolling_.is_open;
    reversed_.push_back(reverse);
    tensor::Tensor product =
        direction.input(reverses_rows ? ReverseSteps(rows_) : rows_, 0, cell_.gates);
    const std::optional<tensor::Tensor> mask =
        mask_ && reverses_rows ? ReverseSteps(*mask_) : mask_;
    if (const auto bias = cell_.product_bias(context_, direction)) {
      product = Elementwise(context_, Label("bias"), {product, *bias},
                            [](const Exprs& e) { return e[0] + e[1]; });
    }
    std::vector<tensor::Tensor> state = InitialState(d);
    std::vector<std::vector<tensor::Tensor>>& states = states_.emplace_back(unrolling_.steps);
    for (int64_t s = 0; s < unrolling_.steps; ++s) {
      const int64_t t = reverse && !reverses_rows ? unrolling_.steps - 1 - s : s;
      const int64_t row = t * sequence_.batch;
      RecurrentStep step{builder_.Rows(product, row, sequence_.batch), std::move(state), {}};
      if (mask) step.mask = builder_.Rows(*mask, row, sequence_.batch);
      state = cell_.step(context_, direction, step);
      states[t] = state;
    }
    last_states_.push_back(std::move(state));
  }

  /// [steps, batch, width]: state k of the steps that are there, in the order in which they run.
  tensor::Tensor StatesOf(int d, size_t k) {
    std::vector<tensor::Tensor> parts;
    for (const std::vector<tensor::Tensor>& state : states_[d]) parts.push_back(state[k]);
    const tensor::Tensor rows =
        ConcatenateRows(context_, std::move(parts), sequence_.steps * sequence_.batch);
    return builder_.View(rows, {sequence_.steps, sequence_.batch, width_});
  }

  /// As SetOutputs, from the states of the steps that are there.
  void SetOpenOutputs() {
    for (size_t k = 0; k < cell_.state_inputs.size(); ++k) {
      const int output = static_cast<int>(k) + 1;
      const bool wants_steps = k == 0 && context_.WantsOutput(0);
      if (!wants_steps && !context_.WantsOutput(output)) continue;
      std::vector<tensor::Tensor> states;
      for (int d = 0; d < directions_; ++d) states.push_back(StatesOf(d, k));
      if (wants_steps) context_.SetOutput(0, OpenOutputs(states));
      if (context_.WantsOutput(output)) context_.SetOutput(output, OpenLastStates(states));
    }
  }

  /// `element` of the direction that the index says.
  tensor::Expr OfDirection(const tensor::Expr& index,
                           const std::function<tensor::Expr(int d)>& element) const {
    if (directions_ == 1) return element(0);
    return tensor::Select(index < tensor::Expr(1), element(0), element(1));
  }

  tensor::Tensor OpenOutputs(const std::vector<tensor::Tensor>& states) {
    const tensor::Tensor y = builder_.Map(
        Label("outputs"), {sequence_.steps, directions_, sequence_.batch, hidden_},
        [&](const Exprs& place) {
          const tensor::Expr element = OfDirection(place[1], [&](int d) {
            return states[d](reversed_[d] ? FromEnd(place[0]) : place[0], place[2], place[3]);
          });
          return WithinSequence(place[0], place[2], element);
        });
    return sequence_.batch_first ? BatchFirst(y, {2, 0, 1, 3}) : y;
  }

  tensor::Tensor OpenLastStates(const std::vector<tensor::Tensor>& states) {
    const tensor::Tensor last = builder_.Map(
        Label("last"), {directions_, sequence_.batch, hidden_}, [&](const Exprs& place) {
          const tensor::Expr element = OfDirection(
              place[0], [&](int d) { return states[d](FromEnd(0), place[1], place[2]); });
          return WithinSequence(0, place[1], element);
        });
    return sequence_.batch_first ? BatchFirst(last, {1, 0, 2}) : last;
  }

  void SetOutputs() {
    if (context_.WantsOutput(0)) context_.SetOutput(0, Outputs());
    for (size_t k = 0; k < cell_.state_inputs.size(); ++k) {
      const int output = static_cast<int>(k) + 1;
      if (context_.WantsOutput(output)) context_.SetOutput(output, LastStates(k));
    }
  }

  /// [steps, directions, batch, hidden], or [batch, steps, directions, hidden]
  tensor::Tensor Outputs() {
    std::vector<tensor::Tensor> parts;
    for (int64_t t = 0; t < sequence_.steps; ++t) {
      for (int d = 0; d < directions_; ++d) parts.push_back(states_[d][t][0]);
    }
    tensor::Tensor y = ConcatenateRows(context_, std::move(parts));
    y = builder_.View(y, {sequence_.steps, directions_, sequence_.batch, width_});
    if (lengths_ || width_ != hidden_) {
      y = builder_.Map(
          Label("outputs"), {sequence_.steps, directions_, sequence_.batch, hidden_},
          [&](const Exprs& place) { return WithinSequence(place[0], place[2], y.At(place)); });
    }
    return sequence_.batch_first ? BatchFirst(y, {2, 0, 1, 3}) : y;
  }

  /// [directions, batch, hidden], or [batch, directions, hidden]. Those of a sequence without
  /// steps are zero, as in onnxruntime; ONNX does not say.
  tensor::Tensor LastStates(size_t k) {
    std::vector<tensor::Tensor> parts;
    for (const std::vector<tensor::Tensor>& state : last_states_) parts.push_back(state[k]);
    tensor::Tensor last = ConcatenateRows(context_, std::move(parts));
    last = builder_.View(last, {directions_, sequence_.batch, width_});
    if (lengths_ || width_ != hidden_) {
      last = builder_.Map(
          Label("last"), {directions_, sequence_.batch, hidden_},
          [&](const Exprs& place) { return WithinSequence(0, place[1], last.At(place)); });
    }
    return sequence_.batch_first ? BatchFirst(last, {1, 0, 2}) : last;
  }

  tensor::Tensor BatchFirst(const tensor::Tensor& x, const std::vector<int>& permutation) {
    if (sequence_.batch > 1) return Permute(context_, x, permutation);
    std::vector<int64_t> shape;
    for (int axis : permutation) shape.push_back(x.shape()[axis]);
    return builder_.View(x, shape);
  }

  std::string Label(const char* part) const { return context_.label() + "." + part; }

  OperatorContext& context_;
  GraphBuilder& builder_;
  const RecurrentCell& cell_;
  const GateProductMaker& product_;
  const int64_t hidden_;
  const SequenceShape sequence_;
  const Unrolling unrolling_;
  int64_t width_ = 0;
  int64_t directions_ = 1;
  tensor::Tensor rows_;
  std::vector<NamedActivation> activations_;
  std::optional<tensor::Tensor> lengths_, mask_;                  // where sequences end early
  std::vector<bool> reversed_;                                    // by direction
  std::vector<std::vector<std::vector<tensor::Tensor>>> states_;  // by direction and step
  std::vector<std::vector<tensor::Tensor>> last_states_;          // by direction
};

}  // namespace

void ImportRecurrent(OperatorContext& context, const RecurrentCell& cell, int64_t hidden,
                     const GateProductMaker& product) {
  RecurrentImporter(context, cell, hidden, product).Run();
}

}  // namespace bayloom::graph
