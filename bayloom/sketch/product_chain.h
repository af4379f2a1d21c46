// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// Two products of which the second reads, through elementwise stages and reductions of rows, what
/// the first computes: attention. The stages as the workload names them.
struct ProductChain {
  std::string first;                 ///< scores[rows.., group, lane], reduced over one axis
  std::vector<std::string> between;  ///< what depends on it and is read by the second, in order
  std::string second;                ///< product[rows.., channel], reduced over group and lane
  std::string output;                ///< the last stage, element by element of the second
  /// Copies that the first and the second read as their other factor; empty if they are none.
  std::string keys, values;
};

/// nullopt if the workload is something else.
std::optional<ProductChain> FindProductChain(const tensor::Workload& workload);

/// Design spaces of a chain of products, computed block by block of the second one's rows:
///
///     for each of the outer rows (batch, heads), for each block of the last row axis
///       first product of the block's rows, all columns      in tiles of registers
///       what is between, row by row
///       second product, and the output                      in tiles of registers
///
/// What lies between is as large as a block of rows: it stays in the caches of one core, and
/// nothing has to be computed again, as one pass over the columns (an online softmax) would. The
/// copies of keys and values are made for each of the outer rows or, in other spaces, ahead of
/// everything; values also not at all. The rows of a block, the tiles within and how many rows go
/// through the softmax at a time are decisions.
///
/// Empty if a primitive refuses.
std::vector<tensor::Schedule> SpacesOf(const tensor::Workload& workload, const ProductChain& chain,
                                       const target::Target& target);

}  // namespace bayloom::sketch
