// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/partial_evaluation.h"

#include <bit>
#include <limits>

namespace bayloom::space {
namespace {

/// Stands in a remainder for an expression whose value is not yet known. No value has these bits.
constexpr uint64_t kOpen = 0x7ff8'0000'0bad'cafe;

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return x ^ (x >> 32);
}

void Append(Remainder& remainder, uint64_t bits) {
  remainder.low = Mix(remainder.low + bits) + 0x9e3779b97f4a7c15;
  remainder.high =
      (std::rotl(remainder.high, 23) ^ Mix(bits + 0x2545f4914f6cdd1d)) * 0x9fb21c651e98df25;
}

}  // namespace

int PartialEvaluation::SlotAfter(const Node& node, int level) const {
  return node.first_slot + node.levels.CountUpTo(level);
}

Interval PartialEvaluation::Run(const Step& step) const {
  if (step.operation == Operation::kIn) return graph_.LookUp(step.index, slots_[step.operands[0]]);
  if (step.operation != Operation::kCode) {
    return Apply(step.operation, slots_[step.operands[0]], slots_[step.operands[1]],
                 slots_[step.operands[2]]);
  }
  std::vector<double> ranks;
  for (int operand : step.more_operands) {
    if (!slots_[operand].IsPoint()) return {0, 1};
    ranks.push_back(slots_[operand].low);
  }
  return Interval::Point(graph_.RunCode(step.index, parameters_, ranks));
}

bool PartialEvaluation::Assign(int level, const RankBlock& block) {
  Level& at = levels_[level];
  at.block = block;
  for (const TermStep& term : at.terms) slots_[term.slot] = term.hulls[block];
  for (const Step& step : at.steps) {
    const Interval value = Run(step);
    if (step.is_root && value.IsFalse()) return false;
    slots_[step.result] = value;
  }
  return true;
}

std::optional<Remainder> PartialEvaluation::Remaining(int level) {
  ++visit_;
  Remainder remainder;
  for (int root : levels_[level].roots) {
    const Node& node = nodes_[root];
    if (slots_[SlotAfter(node, level)].IsTrue()) {
      Append(remainder, kOpen + 1);
    } else if (!Collect(root, level, remainder)) {
      return std::nullopt;
    }
  }
  return remainder;
}

/// Appends what is known of an expression that is needed. False if it depends on which value of the
/// level's block it is.
bool PartialEvaluation::Collect(int index, int level, Remainder& remainder) {
  Node& node = nodes_[index];
  if (!node.levels.HasUpTo(level) || node.visited == visit_) return true;
  node.visited = visit_;
  const Interval& value = slots_[SlotAfter(node, level)];
  if (value.IsPoint()) {
    Append(remainder, std::bit_cast<uint64_t>(value.low));
    return true;
  }
  if (node.levels.Has(level) && !levels_[level].block.IsSingle()) return false;
  Append(remainder, kOpen);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (node.operation == Operation::kSelect && i > 0) {
      const Node& condition = nodes_[node.operands[0]];
      const Interval& truth = slots_[SlotAfter(condition, level)];
      if (i == 1 ? truth.IsFalse() : truth.IsTrue()) continue;
    }
    if (!Collect(node.operands[i], level, remainder)) return false;
  }
  return true;
}

}  // namespace bayloom::space
