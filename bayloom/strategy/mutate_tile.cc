// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "bayloom/base/prime_factors.h"
#include "bayloom/strategy/mutator.h"

namespace bayloom::strategy {
namespace {

/// Moving a divisor from factor `from` to factor `to` of a tile.
struct Move {
  int from, to;
};

int64_t LargestMove(const std::vector<int64_t>& tile, Move move, int64_t max_innermost) {
  const bool to_innermost = move.to == static_cast<int>(tile.size()) - 1;
  return to_innermost ? std::min(tile[move.from], max_innermost / tile[move.to]) : tile[move.from];
}

std::vector<int64_t> DivisorsUpTo(int64_t number, int64_t limit) {
  std::vector<int64_t> divisors;
  for (int64_t d = 2; d <= limit; ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors;
}

std::vector<Move> LegalMoves(const std::vector<int64_t>& tile, int64_t max_innermost) {
  std::vector<Move> moves;
  const int parts = static_cast<int>(tile.size());
  for (int from = 0; from < parts; ++from) {
    if (tile[from] == 1) continue;
    const int64_t smallest = base::PrimeFactors(tile[from])[0].prime;
    for (int to = 0; to < parts; ++to) {
      const Move move{from, to};
      if (to != from && smallest <= LargestMove(tile, move, max_innermost)) moves.push_back(move);
    }
  }
  return moves;
}

class TileMutator final : public Mutator {
 public:
  std::string name() const override { return "tile"; }

  std::optional<tensor::Trace> Mutate(const sketch::Candidate& parent,
                                      base::RandomStream& random) const override {
    std::vector<std::pair<int, std::vector<Move>>> tiles;  // step and what can be done there
    const tensor::Trace& trace = parent.trace;
    for (int step : trace.SamplingSteps()) {
      const tensor::Instruction& instruction = trace.instructions()[step];
      if (instruction.kind != tensor::InstructionKind::kSamplePerfectTile) continue;
      std::vector<Move> moves =
          LegalMoves(trace.decisions()[step]->values, MaxInnermost(instruction));
      if (!moves.empty()) tiles.emplace_back(step, std::move(moves));
    }
    if (tiles.empty()) return std::nullopt;
    const auto& [step, moves] = tiles[random.UniformInt(static_cast<int64_t>(tiles.size()))];
    const Move move = moves[random.UniformInt(static_cast<int64_t>(moves.size()))];
    tensor::Decision decision = *trace.decisions()[step];
    std::vector<int64_t>& tile = decision.values;
    const std::vector<int64_t> divisors = DivisorsUpTo(
        tile[move.from], LargestMove(tile, move, MaxInnermost(trace.instructions()[step])));
    const int64_t divisor = divisors[random.UniformInt(static_cast<int64_t>(divisors.size()))];
    tile[move.from] /= divisor;
    tile[move.to] *= divisor;
    return trace.WithDecision(step, std::move(decision));
  }

 private:
  static int64_t MaxInnermost(const tensor::Instruction& tile) { return tile.attributes[1]; }
};

}  // namespace

std::unique_ptr<Mutator> MakeTileMutator() { return std::make_unique<TileMutator>(); }

}  // namespace bayloom::strategy
