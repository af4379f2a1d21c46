// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/open_view.h"

#include <algorithm>

namespace bayloom::graph {
namespace {

/// Dimensions of both shapes whose lengths have the same product. Those of length 1 are in none.
struct Group {
  std::vector<size_t> from, to;
};

/// Dimensions that are not of length 1.
std::vector<size_t> LongDimensions(const std::vector<Length>& shape) {
  std::vector<size_t> dimensions;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != Length(1)) dimensions.push_back(d);
  }
  return dimensions;
}

std::vector<Group> GroupsOf(const std::vector<Length>& from, const std::vector<Length>& to) {
  std::vector<Group> groups;
  const std::vector<size_t> all_to = LongDimensions(to);
  size_t begin = 0;  // of the next group, in `all_to`
  Group group;
  Length product = 1;
  for (size_t d : LongDimensions(from)) {
    group.from.push_back(d);
    product = product * from[d];
    Length other = 1;
    for (size_t end = begin; end < all_to.size(); ++end) {
      other = other * to[all_to[end]];
      if (other != product) continue;
      group.to.assign(all_to.begin() + static_cast<ptrdiff_t>(begin),
                      all_to.begin() + static_cast<ptrdiff_t>(end) + 1);
      groups.push_back(std::move(group));
      group = {};
      product = 1;
      begin = end + 1;
      break;
    }
  }
  return groups;
}

bool OnlyFirstIsOpen(const std::vector<size_t>& dimensions, const std::vector<Length>& shape) {
  return std::all_of(dimensions.begin() + 1, dimensions.end(),
                     [&](size_t d) { return shape[d].AsConstant().has_value(); });
}

}  // namespace

bool IsViewForAllLengths(const std::vector<Length>& from, const std::vector<Length>& to) {
  return std::ranges::all_of(GroupsOf(from, to), [&](const Group& group) {
    return OnlyFirstIsOpen(group.from, from) && OnlyFirstIsOpen(group.to, to);
  });
}

std::vector<tensor::Expr> IndicesBehindView(const std::vector<Length>& from,
                                            const std::vector<Length>& to,
                                            const std::vector<tensor::Expr>& place,
                                            SizeTable& sizes) {
  std::vector<tensor::Expr> indices(from.size(), tensor::Expr(0));
  const auto expression = [&](const Length& length) {
    return sizes.Expression(length, tensor::DType::kInt64);
  };
  for (const Group& group : GroupsOf(from, to)) {
    tensor::Expr rest = 0;  // the element's place in the group
    for (size_t d : group.to) rest = rest * expression(to[d]) + place[d];
    for (size_t i = group.from.size(); i-- > 1;) {
      const tensor::Expr length = expression(from[group.from[i]]);
      indices[group.from[i]] = tensor::FloorMod(rest, length);
      rest = tensor::FloorDiv(rest, length);
    }
    indices[group.from[0]] = rest;
  }
  return indices;
}

}  // namespace bayloom::graph
