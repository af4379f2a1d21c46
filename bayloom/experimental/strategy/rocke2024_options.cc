// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/strategy/rocke2024_options.h"

#include <fmt/format.h>

#include "bayloom/base/single_line.h"

namespace bayloom::experimental {
namespace {

/// What a word changes; false if there is no such word.
bool Apply(std::string_view word, Rocke2024Options& options) {
  using acquisition::AcquisitionKind;
  if (word == "naive") return true;
  if (word == "heap") return options.selection = BatchSelection::kBestOverall, true;
  if (word == "lru") return options.eviction = Eviction::kMinRecent, true;
  if (word == "factors") return options.encoding = TilingEncoding::kFactorization, true;
  if (word == "sdr") return options.reduce_domain = true, true;
  if (word == "ei") return options.acquisition = AcquisitionKind::kExpectedImprovement, true;
  if (word == "poi") return options.acquisition = AcquisitionKind::kProbabilityOfImprovement, true;
  return false;
}

}  // namespace

Result<Rocke2024Options> ParseRocke2024Words(std::string_view words, Rocke2024Options options) {
  while (true) {
    const size_t end = words.find('+');
    const std::string_view word = words.substr(0, end);
    if (!Apply(word, options)) {
      return Error{fmt::format(
          "unknown word '{}' of rocke2024; known are naive, heap, lru, factors, sdr, ei, poi",
          base::SingleLine(word))};
    }
    if (end == std::string_view::npos) return options;
    words.remove_prefix(end + 1);
  }
}

}  // namespace bayloom::experimental
