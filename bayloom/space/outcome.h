#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace bayloom {

/// How a trial ended.
enum class Verdict : uint8_t {
  kOk,           ///< it ran and its results are right: there is a value
  kBuildError,   ///< no code could be made of it
  kCrash,        ///< its process died
  kTimeout,      ///< it did not end within the time limit
  kMemory,       ///< it wanted more memory than it may have
  kWrongOutput,  ///< it ran, but computed something else
};

/// "ok", "build-error", "crash", "timeout", "memory", "wrong-output".
std::string_view ToString(Verdict verdict);
std::optional<Verdict> ParseVerdict(std::string_view text);

/// What one trial on the real thing answered: a value, or infeasible with a reason. An infeasible
/// outcome has no value at all, never a large one.
struct Outcome {
  Verdict verdict = Verdict::kOk;
  /// What is minimized; of kernels, the median seconds of one run. NaN unless feasible.
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Interquartile range of the runs' times over their median; 0 when cut short.
  double spread = 0;
  /// Clearly slower than the best known, so that it was run once or twice only: `value` is right
  /// within tens of percent.
  bool cut_short = false;
  /// How much slower the incumbent ran when last timed again than when it was first timed: what
  /// else the machine is doing now. 1 means nothing has changed.
  double drift = 1;
  /// Why there is no value; empty when feasible. One line.
  std::string reason;
  double build_seconds = 0;    ///< spent on compiling
  double measure_seconds = 0;  ///< spent on running, checking and timing

  bool ok() const { return verdict == Verdict::kOk; }

  static Outcome Infeasible(Verdict verdict, std::string reason);
};

}  // namespace bayloom
