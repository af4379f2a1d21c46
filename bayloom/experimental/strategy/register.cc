// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "bayloom/experimental/strategy/rocke2024_search.h"
#include "bayloom/experimental/variants.h"

namespace bayloom::experimental {
namespace {

Status CheckWords(std::string_view words) {
  const Result<Rocke2024Options> options = ParseRocke2024Words(words);
  return options ? Ok() : Status(options.error());
}

std::unique_ptr<strategy::SearchStrategy> Make(const Rocke2024Options& defaults,
                                               std::string_view words,
                                               strategy::StrategyOptions options) {
  if (words.empty()) return MakeRocke2024Search("rocke2024", std::move(options), defaults);
  const Result<Rocke2024Options> changed = ParseRocke2024Words(words, defaults);
  if (!changed) throw InputError(changed.error().message);
  return MakeRocke2024Search("rocke2024:" + std::string(words), std::move(options), *changed);
}

}  // namespace

void RegisterRocke2024(const Rocke2024Options& defaults) {
  strategy::Strategies().RegisterExperimental(
      {"rocke2024",
       "Bayesian optimization of the cost model's scores (Rocke 2024); rocke2024:heap+lru and "
       "other words, joined by '+', change it: heap, lru, factors, sdr, ei, poi",
       {[defaults](std::string_view words, strategy::StrategyOptions options) {
          return Make(defaults, words, std::move(options));
        },
        CheckWords}});
}

void RegisterStrategies() { RegisterRocke2024(); }

}  // namespace bayloom::experimental
