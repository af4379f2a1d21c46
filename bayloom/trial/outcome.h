// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bayloom::trial {

/// How a trial ended.
enum class Verdict : uint8_t {
  kOk,             ///< it ran and its results are right: there is a value
  kBuildError,     ///< no code could be made of it
  kCrash,          ///< its process died
  kTimeout,        ///< it did not end within the time limit
  kMemory,         ///< it exceeded a memory limit or a capacity
  kWrongOutput,    ///< it ran, but computed something else
  kInvalidAnswer,  ///< it ran, but what it answered is not a value
};

/// "ok", "build-error", "crash", "timeout", "memory", "wrong-output", "invalid-answer".
std::string_view ToString(Verdict verdict);
std::optional<Verdict> ParseVerdict(std::string_view text);

/// In less time no processor ends a cycle: what claims to have taken less was not timed.
inline constexpr double kMinSeconds = 1e-11;
/// Whether a program can take so long.
bool IsTime(double seconds);

/// A number that a trial answered beside the one that is optimized: "energy", "build_seconds".
struct NamedValue {
  std::string name;
  double value = 0;

  bool operator==(const NamedValue&) const = default;
};

/// What one trial answered: a value, or infeasible with a reason. An infeasible outcome has no
/// value at all, never a large one. A trial that could not be tried has no outcome (see
/// FinishedTrial).
struct Outcome {
  Verdict verdict = Verdict::kOk;
  /// What is optimized, in the evaluator's unit; NaN unless feasible.
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Why there is no value; empty when feasible. One line.
  std::string reason;
  /// The evaluator says that there is none, as it does of constraints that it alone knows; not
  /// recorded.
  bool is_told = false;
  /// What else was answered, each name once.
  std::vector<NamedValue> values;

  bool ok() const { return verdict == Verdict::kOk; }
  /// The named value, `otherwise` if there is none.
  double Get(std::string_view name, double otherwise) const;
  /// Adds or replaces a named value.
  void Set(std::string_view name, double number);

  static Outcome Feasible(double value);
  static Outcome Infeasible(Verdict verdict, std::string reason);
};

}  // namespace bayloom::trial
