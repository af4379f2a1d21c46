// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"

namespace bayloom::tensor {

/// Names for results of instructions: positions in one numbering shared by all three kinds.
struct BlockVar {
  int id = -1;
};
struct LoopVar {
  int id = -1;
};
struct ValueVar {
  int id = -1;
};

enum class InstructionKind : uint8_t {
  kGetBlock,
  kGetLoops,
  kGetConsumers,
  kSamplePerfectTile,
  kSampleCategorical,
  kSampleComputeLocation,
  kSplit,
  kFuse,
  kReorder,
  kParallelize,
  kVectorize,
  kUnroll,
  kAnnotateUnroll,
  kBind,
  kAnnotate,
  kComputeInline,
  kReverseComputeInline,
  kComputeAt,
  kReverseComputeAt,
  kCacheRead,
  kCacheWrite,
  kRFactor,
  kDecomposeReduction,
  kRewriteLayout,
  kSetScope,
  kTensorize,
  kSplitOverlapping,
  kWinograd,
  kPadProduct,
};

bool IsSampling(InstructionKind kind);
/// "split", "sample_perfect_tile", ...
std::string ToString(InstructionKind kind);

/// What a sampling instruction chose.
///   perfect tile      the factors, outermost first
///   categorical       {index of the candidate}
///   compute location  {-2} inline, {-1} root, {k} the k-th loop around the first reader
struct Decision {
  std::vector<int64_t> values;
  bool operator==(const Decision&) const = default;
};

/// Compute locations besides loops, as decisions and as what a LoopVar stands for.
constexpr int64_t kLocationRoot = -1;
constexpr int64_t kLocationInline = -2;

/// One step of a trace. Operands are variables defined by earlier steps' outputs.
struct Instruction {
  InstructionKind kind = InstructionKind::kGetBlock;
  std::vector<int> inputs;          ///< variables
  std::vector<int64_t> attributes;  ///< literal arguments: parts, candidates, scope, ...
  std::vector<double> weights;      ///< kSampleCategorical: probabilities
  std::string text;                 ///< a block's name or an annotation's key
  std::vector<int> outputs;         ///< variables
};

/// The history of a schedule: instructions with the decisions of the sampling ones.
///
/// A trace without decisions is a design space; with all of them, a candidate. Replaying keeps
/// a candidate meaningful when an earlier decision changes: a perfect tile whose factors multiply
/// to the extent stays; another keeps its inner factors while they divide the extent (one that does
/// not divide takes all that remains) and derives the outermost, and an innermost factor that would
/// exceed its maximum is the largest divisor within it; a categorical index is clamped; a compute
/// location that is illegal becomes the next legal one outwards, in the end root.
///
/// Copies share the instructions: a candidate costs no more than its decisions.
class Trace {
 public:
  Trace();

  const std::vector<Instruction>& instructions() const { return steps_->instructions; }
  /// Parallel to instructions(); nullopt for steps that are not sampling or not decided.
  const std::vector<std::optional<Decision>>& decisions() const { return decisions_; }
  /// Positions of the sampling instructions.
  std::vector<int> SamplingSteps() const;

  /// The outputs must be the next variables, variable_count() and following; the operands must
  /// be as many and of the kinds that the instruction takes. Otherwise std::invalid_argument.
  void Append(Instruction instruction, std::optional<Decision> decision);
  /// The same trace with one decision changed; everything after it is decided on replay as the
  /// repair rules say.
  Trace WithDecision(int step, Decision decision) const;
  /// The same instructions with other decisions (one optional per instruction).
  Trace WithDecisions(std::vector<std::optional<Decision>> decisions) const;
  /// The design space: the trace without any decision.
  Trace WithoutDecisions() const;
  int variable_count() const { return static_cast<int>(variable_kinds().size()); }
  /// Per variable: 'b' for a block, 'l' for a loop, 'v' for a value.
  const std::vector<char>& variable_kinds() const { return steps_->variables; }

  /// {"steps": [{"op": "split", "in": [0], "out": [4, 5], "decision": [...]}, ...]}
  nlohmann::json ToJson() const;
  /// Refuses, in one line, all that is not a well-formed trace.
  static Result<Trace> FromJson(const nlohmann::json& json);
  /// One line per step, as a person would write it.
  std::string Print() const;
  /// Hash of instructions, without decisions: identifies the design space.
  uint64_t SpaceHash() const;

 private:
  struct Steps {
    std::vector<Instruction> instructions;
    std::vector<char> variables;
  };
  Status Check(const Instruction& instruction, const std::optional<Decision>& decision) const;

  std::shared_ptr<Steps> steps_;  ///< never changed while shared
  std::vector<std::optional<Decision>> decisions_;
};

/// All ordered factorizations of `extent` into `parts` factors whose last is at most
/// max_innermost, sorted lexicographically. Shared and cached.
const std::vector<std::vector<int64_t>>& PerfectTilings(int64_t extent, int parts,
                                                        int64_t max_innermost);
/// Their number without listing them.
int64_t CountPerfectTilings(int64_t extent, int parts, int64_t max_innermost);
/// One of them, uniformly, without listing them; nullopt if there is none.
std::optional<std::vector<int64_t>> SamplePerfectTiling(int64_t extent, int parts,
                                                        int64_t max_innermost,
                                                        base::RandomStream& random);
/// The factorization of `extent` nearest to a decision made for another one, by the rule of Trace:
/// its last factor is at most max_innermost, unless `wanted` is a factorization of `extent` itself
/// or has one part.
std::vector<int64_t> RepairTiling(int64_t extent, const std::vector<int64_t>& wanted,
                                  int64_t max_innermost);

}  // namespace bayloom::tensor
