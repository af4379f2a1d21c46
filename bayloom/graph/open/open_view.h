// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/graph/length.h"
#include "bayloom/graph/open/size_table.h"

namespace bayloom::graph {

/// Whether elements in row-major order over the lengths of a run lie as they do over the largest
/// ones, when a tensor of shape `from` is seen under the shape `to`: where dimensions of equal
/// products are grouped, as few as possible in each group, only the first one of a group is open.
bool IsViewForAllLengths(const std::vector<Length>& from, const std::vector<Length>& to);

/// The indices into a tensor of shape `from` of the element that has the indices `place` in the
/// shape `to`, of the same elements in the same row-major order.
std::vector<tensor::Expr> IndicesBehindView(const std::vector<Length>& from,
                                            const std::vector<Length>& to,
                                            const std::vector<tensor::Expr>& place,
                                            SizeTable& sizes);

}  // namespace bayloom::graph
