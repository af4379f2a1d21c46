// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/density.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"

namespace bayloom::mapspace {
namespace {

std::optional<double> ParseReal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

Density Checked(Density density) {
  if (!(density.fraction > 0 && density.fraction <= 1)) {
    throw InputError(
        fmt::format("a density of {}; it must be above 0 and at most 1", density.fraction));
  }
  return density.fraction == 1 ? Density{} : density;
}

}  // namespace

std::string Density::Describe() const {
  switch (kind) {
    case Kind::kDense:
      return "dense";
    case Kind::kFixedStructured:
      return fmt::format("{} fixed-structured", fraction);
    case Kind::kBlocked:
      return fmt::format("{}:{}", block_nonzeros, block_words);
    case Kind::kHypergeometric:
      return whole_words == 0 ? fmt::format("{} hypergeometric", fraction)
                              : fmt::format("{} hypergeometric of {} words", fraction, whole_words);
    case Kind::kBanded:
      return fmt::format("banded:{}", band_width);
    case Kind::kRecorded:
      return fmt::format("file:{} {:x}", file, digest);
  }
  return "";
}

bool Density::operator==(const Density& other) const {
  return kind == other.kind && fraction == other.fraction &&
         block_nonzeros == other.block_nonzeros && block_words == other.block_words &&
         whole_words == other.whole_words && band_width == other.band_width && file == other.file &&
         digest == other.digest;
}

Density ParseDensity(std::string_view text) {
  constexpr std::string_view kFile = "file:", kBanded = "banded:";
  if (text.starts_with(kFile)) return RecordedDensity(std::string(text.substr(kFile.size())));
  if (text.starts_with(kBanded)) {
    const auto width = ParseReal(text.substr(kBanded.size()));
    if (width && *width == std::floor(*width) && *width >= 0 && *width <= 0x1p31) {
      return BandedDensity(static_cast<int64_t>(*width));
    }
    throw InputError(fmt::format("'{}' is no density such as banded:2", text));
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto fraction = ParseReal(text);
    if (!fraction) {
      throw InputError(
          fmt::format("'{}' is no density such as 0.3, 2:4, banded:2 or file:mask.npy", text));
    }
    return Checked({.kind = Density::Kind::kHypergeometric, .fraction = *fraction});
  }
  const auto n = ParseReal(text.substr(0, colon)), m = ParseReal(text.substr(colon + 1));
  if (!n || !m || *n != std::floor(*n) || *m != std::floor(*m) || *n < 1 || *m < *n || *m > 4096) {
    throw InputError(fmt::format("'{}' is no density such as 2:4, two words of every four", text));
  }
  return Checked({.kind = Density::Kind::kBlocked,
                  .fraction = *n / *m,
                  .block_nonzeros = static_cast<int64_t>(*n),
                  .block_words = static_cast<int64_t>(*m)});
}

Density MakeDensity(std::string_view distribution, double fraction) {
  std::string name(distribution);
  std::ranges::replace(name, '_', '-');
  if (name == "fixed" || name == "fixed-structured") {
    return Checked({.kind = Density::Kind::kFixedStructured, .fraction = fraction});
  }
  if (name == "hypergeometric" || name == "uniform") {
    return Checked({.kind = Density::Kind::kHypergeometric, .fraction = fraction});
  }
  throw InputError(
      fmt::format("there is no distribution '{}'; there are fixed-structured, hypergeometric, "
                  "banded, real-data and n:m",
                  base::SingleLine(name)));
}

Density BandedDensity(int64_t width) {
  return {.kind = Density::Kind::kBanded, .band_width = width};
}

Density RecordedDensity(std::string file, uint64_t digest) {
  if (file.empty()) throw InputError("the name of a file of nonzeros is missing");
  return {.kind = Density::Kind::kRecorded, .file = std::move(file), .digest = digest};
}

}  // namespace bayloom::mapspace
