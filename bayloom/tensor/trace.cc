// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <stdexcept>

#include "bayloom/base/hash.h"
#include "bayloom/tensor/instruction.h"

namespace bayloom::tensor {

Trace::Trace() : steps_(std::make_shared<Steps>()) {}

std::vector<int> Trace::SamplingSteps() const {
  std::vector<int> steps;
  for (size_t i = 0; i < instructions().size(); ++i) {
    if (IsSampling(instructions()[i].kind)) steps.push_back(static_cast<int>(i));
  }
  return steps;
}

Status Trace::Check(const Instruction& instruction, const std::optional<Decision>& decision) const {
  if (Status s = CheckForm(instruction, steps_->variables); !s) return s;
  if (Status s = CheckOutputs(instruction); !s) return s;
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    if (instruction.outputs[i] != variable_count() + static_cast<int>(i)) {
      return Error{fmt::format("malformed {} step: its outputs must be the next variables",
                               ToString(instruction.kind))};
    }
  }
  return decision ? CheckDecision(instruction, *decision) : Ok();
}

void Trace::Append(Instruction instruction, std::optional<Decision> decision) {
  if (Status s = Check(instruction, decision); !s) throw std::invalid_argument(s.error().message);
  if (steps_.use_count() > 1) steps_ = std::make_shared<Steps>(*steps_);
  const std::string_view outputs = FormOf(instruction.kind).outputs;
  if (!outputs.empty()) {
    steps_->variables.insert(steps_->variables.end(), instruction.outputs.size(), outputs[0]);
  }
  steps_->instructions.push_back(std::move(instruction));
  decisions_.push_back(std::move(decision));
}

Trace Trace::WithDecision(int step, Decision decision) const {
  std::vector<std::optional<Decision>> decisions = decisions_;
  decisions.at(step) = std::move(decision);
  return WithDecisions(std::move(decisions));
}

Trace Trace::WithDecisions(std::vector<std::optional<Decision>> decisions) const {
  if (decisions.size() != decisions_.size()) {
    throw std::invalid_argument("as many decisions as instructions, some of them empty");
  }
  for (size_t i = 0; i < decisions.size(); ++i) {
    if (!decisions[i]) continue;
    if (Status s = CheckDecision(instructions()[i], *decisions[i]); !s) {
      throw std::invalid_argument(s.error().message);
    }
  }
  Trace trace;
  trace.steps_ = steps_;
  trace.decisions_ = std::move(decisions);
  return trace;
}

Trace Trace::WithoutDecisions() const {
  return WithDecisions(std::vector<std::optional<Decision>>(decisions_.size()));
}

std::string Trace::Print() const {
  auto named = [&](int variable) {
    return fmt::format("{}{}", steps_->variables[variable], variable);
  };
  std::string text;
  for (size_t i = 0; i < instructions().size(); ++i) {
    const Instruction& step = instructions()[i];
    std::vector<std::string> outputs, arguments;
    for (int variable : step.outputs) outputs.push_back(named(variable));
    if (!step.text.empty()) arguments.push_back(fmt::format("\"{}\"", step.text));
    for (int variable : step.inputs) arguments.push_back(named(variable));
    for (int64_t attribute : step.attributes) arguments.push_back(fmt::format("{}", attribute));
    if (!outputs.empty()) text += fmt::format("{} = ", fmt::join(outputs, ", "));
    text += fmt::format("{}({})", ToString(step.kind), fmt::join(arguments, ", "));
    if (decisions_[i]) text += fmt::format("  # {}", fmt::join(decisions_[i]->values, " x "));
    text += '\n';
  }
  return text;
}

uint64_t Trace::SpaceHash() const {
  base::Hasher hasher;
  for (const Instruction& step : instructions()) {
    hasher.Add(static_cast<uint64_t>(step.kind)).Add(step.text).Add(step.outputs.size());
    hasher.Add(step.inputs.size());
    for (int variable : step.inputs) hasher.Add(variable);
    hasher.Add(step.attributes.size());
    for (int64_t attribute : step.attributes) hasher.Add(attribute);
    for (double weight : step.weights) hasher.Add(std::bit_cast<uint64_t>(weight));
  }
  return hasher.Digest();
}

}  // namespace bayloom::tensor
