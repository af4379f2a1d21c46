#include "bayloom/space/outcome.h"

#include <array>
#include <utility>

namespace bayloom {
namespace {

constexpr std::array<std::string_view, 6> kVerdictNames = {
    "ok", "build-error", "crash", "timeout", "memory", "wrong-output"};

}  // namespace

std::string_view ToString(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

std::optional<Verdict> ParseVerdict(std::string_view text) {
  for (size_t i = 0; i < kVerdictNames.size(); ++i) {
    if (kVerdictNames[i] == text) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

Outcome Outcome::Infeasible(Verdict verdict, std::string reason) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

}  // namespace bayloom
