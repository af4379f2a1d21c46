// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bayloom::trial {
namespace {

constexpr std::array<std::string_view, 7> kVerdictNames = {
    "ok", "build-error", "crash", "timeout", "memory", "wrong-output", "invalid-answer"};

}  // namespace

std::string_view ToString(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

std::optional<Verdict> ParseVerdict(std::string_view text) {
  for (size_t i = 0; i < kVerdictNames.size(); ++i) {
    if (kVerdictNames[i] == text) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

bool IsTime(double seconds) { return seconds >= kMinSeconds && std::isfinite(seconds); }

double Outcome::Get(std::string_view name, double otherwise) const {
  const auto found = std::ranges::find(values, name, &NamedValue::name);
  return found == values.end() ? otherwise : found->value;
}

void Outcome::Set(std::string_view name, double number) {
  const auto found = std::ranges::find(values, name, &NamedValue::name);
  if (found == values.end()) {
    values.push_back({std::string(name), number});
  } else {
    found->value = number;
  }
}

Outcome Outcome::Feasible(double value) {
  Outcome outcome;
  outcome.value = value;
  return outcome;
}

Outcome Outcome::Infeasible(Verdict verdict, std::string reason) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

}  // namespace bayloom::trial
