#include <algorithm>

#include "bayloom/sketch/postprocess/postprocess.h"

namespace bayloom {
namespace {

void Reparent(Program& program, NodeRef node, NodeRef parent) {
  if (node.is_loop()) {
    program.loops[node.id].parent = parent;
  } else {
    program.blocks[node.id].parent = parent;
  }
}

/// Replaces unit loops among the children of `parent` by their bodies, all the way down.
void Flatten(Program& program, NodeRef parent) {
  std::vector<NodeRef> flat;
  std::vector<NodeRef> pending = program.BodyOf(parent);
  std::reverse(pending.begin(), pending.end());
  while (!pending.empty()) {
    const NodeRef node = pending.back();
    pending.pop_back();
    if (node.is_loop() && program.ExtentOf(node.id) == 1) {
      const std::vector<NodeRef>& body = program.loops[node.id].body;
      pending.insert(pending.end(), body.rbegin(), body.rend());
      program.loops[node.id].alive = false;
      continue;
    }
    Reparent(program, node, parent);
    flat.push_back(node);
  }
  program.BodyOf(parent) = flat;
  for (NodeRef node : flat) {
    if (!node.is_loop()) continue;
    std::vector<DigitId>& digits = program.loops[node.id].digits;
    std::erase_if(digits, [&](DigitId d) { return program.digit_extents[d] == 1; });
    Flatten(program, node);
  }
}

}  // namespace

void RemoveUnitLoops(Program& program) {
  Flatten(program, NodeRef::Root());
  for (Block& block : program.blocks) {
    if (!block.alive) continue;
    for (Affine& binding : block.bindings) {
      std::erase_if(binding.terms, [&](const Affine::Term& term) {
        return program.digit_extents[term.digit] == 1;
      });
    }
  }
}

}  // namespace bayloom
