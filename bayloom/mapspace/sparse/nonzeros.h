// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bayloom::mapspace {

/// Which words of a tensor are not zero.
struct Nonzeros {
  std::vector<int64_t> lengths;  ///< of the axes
  std::vector<uint8_t> flags;    ///< one a word, the last axis fastest
  int64_t count = 0;             ///< of flags that are set

  int64_t Words() const { return static_cast<int64_t>(flags.size()); }
};

/// Tensors of more words are refused.
inline constexpr int64_t kMaxKnownWords = int64_t{1} << 26;

/// The words [i, j] of a matrix with |i - j| <= width. Throws InputError for other tensors than
/// matrices (axes of one word do not count), and for those that are too large.
Nonzeros BandOf(const std::vector<int64_t>& lengths, int64_t width);

/// Reads which words of a tensor with these axes are not zero, by the end of the file's name:
///
///     .npy        an array of NumPy, of numbers or truth values, in either order
///     .mtx        a matrix in coordinates, of Matrix Market
///     .tns        a tensor in coordinates, of FROSTT: from 1, and a value, a line for each nonzero
///     otherwise   a text of 0 and 1 for every word, the first axis fastest (as the masks that
///                 Sparseloop's artifact ships)
///
/// Axes of one word may be missing. Throws InputError naming the file.
Nonzeros ReadNonzeros(const std::string& file, const std::vector<int64_t>& lengths);

/// Of which words are not zero, in any kind of file.
uint64_t DigestOf(const Nonzeros& nonzeros);

}  // namespace bayloom::mapspace
