// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bayloom::mapspace {

struct Nonzeros;

/// How the nonzeros of a tensor are spread over it: what a density model is made from
/// (Sparseloop: Wu et al., MICRO 2022, sec. 5.3.2).
struct Density {
  enum class Kind : uint8_t {
    kDense,
    /// Every tile has its share of nonzeros, rounded up or down so that the mean is exact.
    kFixedStructured,
    /// n of every m consecutive words, anywhere among them ("2:4").
    kBlocked,
    /// Any set of nonzeros of this size is as likely as any other.
    kHypergeometric,
    /// A matrix whose nonzeros are on the main diagonal and on so many diagonals on either side.
    kBanded,
    /// The nonzeros of a tensor that is at hand, in a file.
    kRecorded,
  };

  Kind kind = Kind::kDense;
  /// Of all words; above 0, at most 1. Not of densities with places, which say it themselves.
  double fraction = 1;
  /// Of kBlocked.
  int64_t block_nonzeros = 1, block_words = 1;
  /// Of kHypergeometric: words of a larger tensor that the one described is a part of, over which
  /// the nonzeros are spread; 0: there is none.
  int64_t whole_words = 0;
  /// Of kBanded: diagonals beside the main one, on either side.
  int64_t band_width = 0;
  /// Of kRecorded, as ReadNonzeros takes it (nonzeros.h), and the digest of what it holds.
  std::string file = {};
  uint64_t digest = 0;
  /// What it holds if it was read already; else models read it.
  std::shared_ptr<const Nonzeros> nonzeros = nullptr;

  /// Whether it is known where the nonzeros are, so that it is of one tensor as a whole.
  bool HasPlaces() const { return kind == Kind::kBanded || kind == Kind::kRecorded; }
  /// "dense", "0.3 fixed-structured", "2:4", "0.3 hypergeometric", "0.3 hypergeometric of 4096
  /// words", "banded:2", "file:weights.npy 1f00ba4".
  std::string Describe() const;

  bool operator==(const Density& other) const;
};

/// "0.3" is hypergeometric, "2:4" blocked, "1" dense, "banded:2" and "file:weights.npy" as they
/// say. Throws InputError.
Density ParseDensity(std::string_view text);
/// By the names of Timeloop's files, of those that take a fraction: "fixed-structured" (or
/// "fixed"), "hypergeometric" (or "uniform"), with - or _. Throws InputError naming those that
/// there are.
Density MakeDensity(std::string_view distribution, double fraction);
Density BandedDensity(int64_t width);
/// Of a file with this digest; 0: any digest. The file is not read yet.
Density RecordedDensity(std::string file, uint64_t digest = 0);

}  // namespace bayloom::mapspace
