// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/kernel_steps.h"

#include <algorithm>

#include "bayloom/tensor/library_call.h"

namespace bayloom::codegen {
namespace {

bool IsParallel(const tensor::Program& program, tensor::NodeRef node) {
  return node.is_loop() && program.loops[node.id].kind == tensor::LoopKind::kParallel;
}

bool HasParallelLoopBelow(const tensor::Program& program, tensor::NodeRef node) {
  if (!node.is_loop()) return false;
  return std::ranges::any_of(program.BodyOf(node), [&](tensor::NodeRef child) {
    return IsParallel(program, child) || HasParallelLoopBelow(program, child);
  });
}

/// The nests of a node: itself, but of loops of one iteration around parallel ones, what is inside.
void AddNests(const tensor::Program& program, tensor::NodeRef node,
              std::vector<tensor::NodeRef>& nests) {
  if (IsParallel(program, node) || !HasParallelLoopBelow(program, node) ||
      program.loops[node.id].kind != tensor::LoopKind::kSerial || program.ExtentOf(node.id) != 1) {
    nests.push_back(node);
    return;
  }
  for (const tensor::NodeRef child : program.BodyOf(node)) AddNests(program, child, nests);
}

bool IsCall(const tensor::Program& program, tensor::NodeRef node) {
  return node.is_block() && tensor::AsCall(program.blocks[node.id].value).has_value();
}

}  // namespace

std::optional<std::vector<NestStep>> StepsOf(const tensor::Program& program) {
  if (program.SizeCount() > 0) return std::nullopt;  // how many iterations they have is not known
  std::vector<tensor::NodeRef> nests;
  for (const tensor::NodeRef root : program.roots) AddNests(program, root, nests);
  std::vector<NestStep> steps;
  for (const tensor::NodeRef nest : nests) {
    const bool is_parallel = IsParallel(program, nest);
    if (IsCall(program, nest)) return std::nullopt;
    if (!is_parallel && HasParallelLoopBelow(program, nest)) return std::nullopt;
    if (is_parallel || steps.empty() || steps.back().is_parallel) {
      steps.push_back({{}, is_parallel});
    }
    steps.back().nests.push_back(nest);
  }
  return steps;
}

}  // namespace bayloom::codegen
