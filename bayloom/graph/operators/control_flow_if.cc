// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// If: the branch that a known condition takes; both, where it is known at run time only.
#include <fmt/format.h>

#include "bayloom/graph/import.h"
#include "bayloom/graph/internal/operators/control_flow.h"

namespace bayloom::graph {
namespace {

using Tensors = std::vector<tensor::Tensor>;

[[noreturn]] void RefuseCondition(OperatorContext& context, const std::string& reason) {
  throw RunTimeDependence("the condition is known at run time only, and " + reason,
                          context.builder().InputsBehind(context.Input(0)));
}

Tensors Branch(OperatorContext& context, const char* name) {
  try {
    return context.Subgraph(name, {});
  } catch (const InputError& error) {
    RefuseCondition(context, error.what());
  }
}

/// Nothing that a branch computes has effects, or fails when it runs.
Tensors BothBranches(OperatorContext& context) {
  const Tensors then = Branch(context, "then_branch"), other = Branch(context, "else_branch");
  if (then.size() != other.size()) context.Refuse("the branches differ in their outputs");
  Tensors outputs;
  for (size_t i = 0; i < then.size(); ++i) {
    if (then[i].shape() != other[i].shape() || then[i].dtype() != other[i].dtype()) {
      RefuseCondition(context, fmt::format("output {} is {} or {}", i,
                                           ToString(then[i].dtype(), then[i].shape()),
                                           ToString(other[i].dtype(), other[i].shape())));
    }
    outputs.push_back(Choose(context, context.Input(0), then[i], other[i]));
  }
  return outputs;
}

}  // namespace

void ImportIf(OperatorContext& context) {
  CheckCondition(context, context.Input(0));
  const tensor::HostTensor* known = context.ConstantInput(0);
  const Tensors outputs =
      known ? context.Subgraph(known->GetInt(0) != 0 ? "then_branch" : "else_branch", {})
            : BothBranches(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    context.SetOutput(static_cast<int>(i), outputs[i]);
  }
}

}  // namespace bayloom::graph
