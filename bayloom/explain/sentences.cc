// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bayloom/explain/explanation.h"
#include "bayloom/report/format.h"

namespace bayloom::explain {
namespace {

/// Influences below this part of the variation are not worth a sentence.
constexpr double kNoticeableShare = 0.05;
constexpr size_t kDecisionsToName = 4;
/// A model that orders trials it has not seen no better than this is not to be trusted.
constexpr double kTrustedCorrelation = 0.3;

std::string LimitSentence(const Limits& limits) {
  const bool by_arithmetic = limits.arithmetic >= limits.memory;
  const std::string_view binds = by_arithmetic ? "arithmetic" : "memory";
  const std::string_view other = by_arithmetic ? "memory" : "arithmetic";
  return fmt::format("It takes {}; {} allows {} at best ({:.0f} % of the limit is reached), {} {}.",
                     report::FormatSeconds(limits.seconds), binds,
                     report::FormatSeconds(limits.roofline()), 100 * limits.share(), other,
                     report::FormatSeconds(std::min(limits.arithmetic, limits.memory)));
}

std::string DefaultSentence(const Rival& by_default) {
  const std::string ratio =
      by_default.ratio
          ? fmt::format("The default program takes {:.2f} times as long. ", *by_default.ratio)
          : "";
  if (by_default.differences.empty()) {
    return ratio + "Their loops differ in nothing that counts.";
  }
  return fmt::format("{}Beside the default program it {}.", ratio,
                     fmt::join(by_default.differences, "; "));
}

std::string RunnerUpSentence(const Rival& rival) {
  const double slower = 100 * (rival.ratio.value_or(1) - 1);
  if (rival.differences.empty()) {
    return fmt::format("The runner-up takes {:.1f} % longer.", slower);
  }
  const std::span<const std::string> named(rival.differences.data(),
                                           std::min(rival.differences.size(), kDecisionsToName));
  const size_t further = rival.differences.size() - named.size();
  return fmt::format("The runner-up takes {:.1f} % longer. The best one has {}{}.", slower,
                     fmt::join(named, "; "),
                     further > 0 ? fmt::format("; and {} more", further) : "");
}

void AddDecisions(const DecisionInfluences& influences, std::vector<std::string>& sentences) {
  if (influences.decisions.empty()) {
    sentences.push_back("Its design space leaves nothing to decide.");
    return;
  }
  if (influences.trials < kFewestTrialsToLearnFrom) {
    sentences.push_back(fmt::format(
        "Which decisions matter cannot be said from {} trials of its design space; {} are needed.",
        influences.trials, kFewestTrialsToLearnFrom));
    return;
  }
  if (!influences.rank_correlation) return;
  if (*influences.rank_correlation < kTrustedCorrelation) {
    sentences.push_back(
        fmt::format("Which decisions matter cannot be said: a model of {} trials orders those that "
                    "it has not seen with a rank correlation of {:.2f} only.",
                    influences.trials, *influences.rank_correlation));
    return;
  }
  std::vector<std::string> named;
  for (const DecisionInfluence& influence : influences.decisions) {
    if (!influence.index || influence.index->total.value < kNoticeableShare) continue;
    if (named.size() == kDecisionsToName) break;
    std::string text = fmt::format("{} ({:.0f} %", influence.decision,
                                   100 * std::clamp(influence.index->total.value, 0.0, 1.0));
    if (influence.learnt && influence.learnt->draws > 0) {
      text += fmt::format("; another choice: {:.2f} times as long", influence.learnt->median);
    }
    named.push_back(text + ")");
  }
  if (named.empty()) {
    sentences.push_back("No single decision of its design space matters much.");
    return;
  }
  sentences.push_back(fmt::format(
      "Of the variation of time over its design space, these decisions are responsible for most, "
      "interactions included: {}.",
      fmt::join(named, "; ")));
  sentences.push_back(
      fmt::format("This is by a model of {} trials, which orders those that it has not seen with a "
                  "rank correlation of {:.2f}.",
                  influences.trials, *influences.rank_correlation));
}

}  // namespace

std::vector<std::string> Sentences(const Explanation& explanation) {
  std::vector<std::string> sentences;
  if (explanation.limits) sentences.push_back(LimitSentence(*explanation.limits));
  if (!explanation.techniques.empty()) {
    sentences.push_back(fmt::format("It uses {}.", fmt::join(explanation.techniques, ", ")));
  }
  if (explanation.is_plain) {
    sentences.push_back("It is the default program: nothing that was tried is faster.");
  } else {
    sentences.push_back(DefaultSentence(explanation.beside_default));
  }
  if (explanation.runner_up) sentences.push_back(RunnerUpSentence(*explanation.runner_up));
  if (!explanation.is_plain) AddDecisions(explanation.influences, sentences);
  return sentences;
}

}  // namespace bayloom::explain
