// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/decision_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace bayloom::explain {
namespace {

using tensor::Instruction;
using tensor::InstructionKind;

/// Names for what the variables of a trace stand for.
class TraceNames {
 public:
  TraceNames(const tensor::Trace& trace, const tensor::Workload& workload)
      : trace_(trace), workload_(workload) {}

  std::string Block(int variable) const {
    const Instruction* maker = MakerOf(variable);
    if (maker == nullptr) return "a block";
    if (maker->kind == InstructionKind::kGetBlock) return maker->text;
    const std::string kind = tensor::ToString(maker->kind);
    return maker->inputs.empty() ? kind : fmt::format("{} of {}", kind, Block(maker->inputs[0]));
  }

  /// "k in matmul".
  std::string Loop(int variable) const {
    const Instruction* maker = MakerOf(variable);
    if (maker == nullptr || maker->kind != InstructionKind::kGetLoops) return "a loop";
    const auto place = std::ranges::find(maker->outputs, variable) - maker->outputs.begin();
    const std::string block = Block(maker->inputs[0]);
    const auto stage = std::ranges::find(workload_.stages, block, &tensor::Stage::name);
    const bool is_known =
        stage != workload_.stages.end() && stage->iters.size() == maker->outputs.size();
    const std::string loop = is_known ? stage->iters[static_cast<size_t>(place)].name
                                      : fmt::format("loop {}", place + 1);
    return fmt::format("{} in {}", loop, block);
  }

  /// What a chosen value is used for: "unroll_max_step of matmul".
  std::string Use(int variable) const {
    for (const Instruction& step : trace_.instructions()) {
      if (std::ranges::count(step.inputs, variable) == 0) continue;
      const bool is_annotation = step.kind == InstructionKind::kAnnotate;
      return is_annotation ? fmt::format("{} of {}", step.text, Block(step.inputs[0]))
                           : tensor::ToString(step.kind);
    }
    return "unused choice";
  }

 private:
  const Instruction* MakerOf(int variable) const {
    for (const Instruction& step : trace_.instructions()) {
      if (std::ranges::count(step.outputs, variable) > 0) return &step;
    }
    return nullptr;
  }

  const tensor::Trace& trace_;
  const tensor::Workload& workload_;
};

std::string LocationText(int64_t location) {
  if (location == tensor::kLocationInline) return "inline";
  if (location == tensor::kLocationRoot) return "on its own";
  return fmt::format("in loop {} around its reader", location + 1);
}

}  // namespace

std::string DecisionText(const tensor::Trace& trace, int step, const tensor::Workload& workload) {
  const TraceNames names(trace, workload);
  const Instruction& instruction = trace.instructions()[static_cast<size_t>(step)];
  const std::optional<tensor::Decision>& decision = trace.decisions()[static_cast<size_t>(step)];
  const std::vector<int64_t> values = decision ? decision->values : std::vector<int64_t>();
  switch (instruction.kind) {
    case InstructionKind::kSamplePerfectTile:
      return fmt::format("tile of {}: {}", names.Loop(instruction.inputs.at(0)),
                         fmt::join(values, " x "));
    case InstructionKind::kSampleComputeLocation:
      return fmt::format("where {} is computed: {}", names.Block(instruction.inputs.at(0)),
                         values.empty() ? "" : LocationText(values[0]));
    default: {
      const bool is_valid =
          !values.empty() && values[0] >= 0 && values[0] < std::ssize(instruction.attributes);
      return fmt::format("{}: {}", names.Use(instruction.outputs.at(0)),
                         is_valid ? instruction.attributes[static_cast<size_t>(values[0])] : -1);
    }
  }
}

}  // namespace bayloom::explain
