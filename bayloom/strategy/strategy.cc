// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/strategy.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/strategy/bayes/bayes_search.h"

namespace bayloom::strategy {
namespace {

StrategyMaker WithoutWords(std::unique_ptr<SearchStrategy> (*make)(StrategyOptions)) {
  return {[make](std::string_view, StrategyOptions options) { return make(std::move(options)); }};
}

/// "NAME" or "NAME:WORDS".
struct ParsedName {
  std::string_view name;
  std::optional<std::string_view> words;
};

ParsedName Parse(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

base::Registry<StrategyMaker>& Strategies() {
  static base::Registry<StrategyMaker> strategies(
      "strategy",
      {{"bayes", "breeds programs that the cost model, and a surrogate of the task, rate highly",
        WithoutWords(MakeBayesSearch)},
       {"evolutionary", "breeds programs that the cost model rates highly (MetaSchedule's search)",
        WithoutWords(MakeEvolutionarySearch)},
       {"random", "draws programs at random", WithoutWords(MakeRandomSearch)}});
  return strategies;
}

Status CheckStrategyName(std::string_view name) {
  const ParsedName parsed = Parse(name);
  if (Status known = Strategies().Check(parsed.name); !known) return known;
  if (!parsed.words) return Ok();
  const StrategyMaker maker = Strategies().At(parsed.name);
  if (maker.check_words) return maker.check_words(*parsed.words);
  return Error{fmt::format("the strategy '{}' takes no words, found ':{}'", parsed.name,
                           base::SingleLine(*parsed.words))};
}

std::unique_ptr<SearchStrategy> CreateStrategy(const std::string& name, StrategyOptions options) {
  if (Status known = CheckStrategyName(name); !known) throw InputError(known.error().message);
  const ParsedName parsed = Parse(name);
  return Strategies().At(parsed.name).make(parsed.words.value_or(""), std::move(options));
}

}  // namespace bayloom::strategy
