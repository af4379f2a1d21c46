// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/trial/budget.h"

#include <array>

namespace bayloom::trial {
namespace {

struct StopReasonText {
  std::string_view name;
  std::string_view description;
};

constexpr std::array<StopReasonText, 9> kStopReasons = {{
    {"trials", "all trials done"},
    {"time", "time is up"},
    {"exhausted", "nothing left to try"},
    {"converged", "no further improvement"},
    {"stopped", "stopped"},
    {"lost", "trials cannot be carried out"},
    {"gain", "little more is expected"},
    {"gave-up", "no further feasible configuration was found"},
    {"target", "the target was reached"},
}};

const StopReasonText& TextOf(StopReason reason) {
  return kStopReasons[static_cast<size_t>(reason)];
}

}  // namespace

std::string_view ToString(StopReason reason) { return TextOf(reason).name; }

std::string_view Describe(StopReason reason) { return TextOf(reason).description; }

bool CanResume(StopReason reason) {
  return reason == StopReason::kStopped || reason == StopReason::kLost ||
         reason == StopReason::kGaveUp;
}

}  // namespace bayloom::trial
