// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/gain_text.h"

#include <fmt/format.h>

#include "bayloom/report/format.h"

namespace bayloom::report {

std::string GainText(const tuning::GainInTurns& gain) {
  const measure::PairedRatio& ratio = gain.ratio;
  if (ratio.rounds == 0) {
    const std::string none = "none over the zero-trial programs, which are kept";
    return !gain.refused ? none
                         : fmt::format("{}: what was found has {} to {} of their speed in {} turns",
                                       none, FormatRatio(gain.refused->low),
                                       FormatRatio(gain.refused->high), gain.refused->rounds);
  }
  const std::string text =
      fmt::format("{} over the zero-trial programs ({} instead of {}; {} to {} in {} turns)",
                  FormatRatio(ratio.ratio), FormatSeconds(gain.tuned_seconds),
                  FormatSeconds(gain.zero_trial_seconds), FormatRatio(ratio.low),
                  FormatRatio(ratio.high), ratio.rounds);
  return ratio.IsClear() ? text : text + ", too noisy to tell";
}

}  // namespace bayloom::report
