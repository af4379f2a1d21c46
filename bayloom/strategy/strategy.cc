// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/strategy/bayes/bayes_search.h"
#include "bayloom/strategy/internal/bayes/thesis_search.h"

namespace bayloom::strategy {
namespace {

struct Maker {
  const char* name;
  std::unique_ptr<SearchStrategy> (*make)(StrategyOptions);
};

constexpr Maker kMakers[] = {
    {"evolutionary", MakeEvolutionarySearch},
    {"random", MakeRandomSearch},
    {"bayes", MakeBayesSearch},
};

/// Table 3.1 of Rocke 2024.
constexpr const char* kThesisConfigurations[] = {"naive", "heap", "lru", "heap+lru"};
constexpr std::string_view kThesisPrefix = "bayes:";

/// What a word behind "bayes:" changes; false if there is no such word.
bool Configure(std::string_view word, ThesisOptions& options) {
  if (word == "naive") return true;
  if (word == "heap") return options.selection = Selection::kBestOverall, true;
  if (word == "lru") return options.eviction = Eviction::kLeastRecent, true;
  if (word == "factors") return options.encoding = TilingEncoding::kFactorization, true;
  if (word == "sdr") return options.reduce_domain = true, true;
  if (word == "ei")
    return options.acquisition = acquisition::AcquisitionKind::kExpectedImprovement, true;
  if (word == "poi")
    return options.acquisition = acquisition::AcquisitionKind::kProbabilityOfImprovement, true;
  return false;
}

bool ConfigureAll(std::string_view words, ThesisOptions& options) {
  while (true) {
    const size_t end = words.find('+');
    if (!Configure(words.substr(0, end), options)) return false;
    if (end == std::string_view::npos) return true;
    words.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string> StrategyNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.push_back(maker.name);
  for (const char* words : kThesisConfigurations)
    names.push_back(std::string(kThesisPrefix) + words);
  return names;
}

Status CheckStrategyName(const std::string& name) {
  ThesisOptions options;
  if (name.starts_with(kThesisPrefix) &&
      ConfigureAll(std::string_view(name).substr(kThesisPrefix.size()), options)) {
    return Ok();
  }
  for (const Maker& maker : kMakers) {
    if (name == maker.name) return Ok();
  }
  return Error{fmt::format("unknown search strategy '{}': choose one of {}", name,
                           fmt::join(StrategyNames(), ", "))};
}

std::unique_ptr<SearchStrategy> CreateStrategy(const std::string& name, StrategyOptions options) {
  if (Status known = CheckStrategyName(name); !known) throw InputError(known.error().message);
  for (const Maker& maker : kMakers) {
    if (name == maker.name) return maker.make(std::move(options));
  }
  ConfigureAll(std::string_view(name).substr(kThesisPrefix.size()), options.thesis);
  return MakeThesisSearch(name, std::move(options));
}

}  // namespace bayloom::strategy
