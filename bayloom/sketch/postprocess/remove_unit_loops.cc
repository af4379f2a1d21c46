// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "bayloom/sketch/postprocess/postprocess.h"

namespace bayloom::sketch {
namespace {

void Reparent(tensor::Program& program, tensor::NodeRef node, tensor::NodeRef parent) {
  if (node.is_loop()) {
    program.loops[node.id].parent = parent;
  } else {
    program.blocks[node.id].parent = parent;
  }
}

/// Replaces unit loops among the children of `parent` by their bodies, all the way down.
void Flatten(tensor::Program& program, tensor::NodeRef parent) {
  std::vector<tensor::NodeRef> flat;
  std::vector<tensor::NodeRef> pending = program.BodyOf(parent);
  std::reverse(pending.begin(), pending.end());
  while (!pending.empty()) {
    const tensor::NodeRef node = pending.back();
    pending.pop_back();
    if (node.is_loop() && program.ExtentOf(node.id) == 1) {
      const std::vector<tensor::NodeRef>& body = program.loops[node.id].body;
      pending.insert(pending.end(), body.rbegin(), body.rend());
      program.loops[node.id].alive = false;
      continue;
    }
    Reparent(program, node, parent);
    flat.push_back(node);
  }
  program.BodyOf(parent) = flat;
  for (tensor::NodeRef node : flat) {
    if (!node.is_loop()) continue;
    std::vector<tensor::DigitId>& digits = program.loops[node.id].digits;
    std::erase_if(digits, [&](tensor::DigitId d) { return program.digit_extents[d] == 1; });
    Flatten(program, node);
  }
}

}  // namespace

void RemoveUnitLoops(tensor::Program& program) {
  Flatten(program, tensor::NodeRef::Root());
  for (tensor::Block& block : program.blocks) {
    if (!block.alive) continue;
    for (tensor::Affine& binding : block.bindings) {
      std::erase_if(binding.terms, [&](const tensor::Affine::Term& term) {
        return program.digit_extents[term.digit] == 1;
      });
    }
  }
}

}  // namespace bayloom::sketch
