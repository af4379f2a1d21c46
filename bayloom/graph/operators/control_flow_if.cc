// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// If: the branch that a known condition takes; both, where it is known at run time only.
#include <fmt/format.h>

#include "bayloom/graph/import.h"
#include "bayloom/graph/operators/control_flow.h"

namespace bayloom::graph {
namespace {

using Values = std::vector<NamedValue>;

[[noreturn]] void RefuseCondition(OperatorContext& context, const std::string& reason) {
  throw RunTimeDependence("the condition is known at run time only, and " + reason,
                          context.builder().InputsBehind(context.Input(0)));
}

Values Branch(OperatorContext& context, const char* name) {
  try {
    return context.Subgraph(name, {});
  } catch (const InputError& error) {
    RefuseCondition(context, error.what());
  }
}

/// What the condition chooses at run time.
NamedValue ChooseValue(OperatorContext& context, size_t output, const NamedValue& then,
                       const NamedValue& other) {
  if (!then.tensor || !other.tensor) {
    RefuseCondition(context, fmt::format("output {} is a sequence", output));
  }
  const tensor::Tensor &a = *then.tensor, &b = *other.tensor;
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) {
    RefuseCondition(context,
                    fmt::format("output {} is {} or {}", output, ToString(a.dtype(), a.shape()),
                                ToString(b.dtype(), b.shape())));
  }
  return {.tensor = Choose(context, context.Input(0), a, b),
          .type = then.type == other.type ? then.type : 0};
}

/// Nothing that a branch computes has effects, or fails when it runs.
Values BothBranches(OperatorContext& context) {
  const Values then = Branch(context, "then_branch"), other = Branch(context, "else_branch");
  if (then.size() != other.size()) context.Refuse("the branches differ in their outputs");
  Values outputs;
  for (size_t i = 0; i < then.size(); ++i) {
    outputs.push_back(ChooseValue(context, i, then[i], other[i]));
  }
  return outputs;
}

}  // namespace

void ImportIf(OperatorContext& context) {
  CheckCondition(context, context.Input(0));
  const tensor::HostTensor* known = context.ConstantInput(0);
  const Values outputs =
      known ? context.Subgraph(known->GetInt(0) != 0 ? "then_branch" : "else_branch", {})
            : BothBranches(context);
  for (size_t i = 0; i < outputs.size(); ++i) {
    context.SetOutput(static_cast<int>(i), outputs[i]);
  }
}

}  // namespace bayloom::graph
