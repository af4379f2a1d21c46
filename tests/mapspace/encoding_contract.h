// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>

#include "bayloom/mapspace/encoding.h"

namespace bayloom::mapspace {

/// A small product on an architecture.
struct SmallProduct {
  explicit SmallProduct(const char* architecture)
      : mapspace(MatmulProblem(16, 12, 32), ShippedArchitecture(architecture)),
        model(mapspace.problem(), mapspace.architecture()) {}

  Mapspace mapspace;
  AnalyticalModel model;
};

/// Names of encodings of tiles and orders.
using EncodingCase = std::tuple<std::string, std::string>;

/// What every encoding promises; instantiated with the names of each module's.
class EncodingContract : public testing::TestWithParam<EncodingCase> {
 protected:
  /// With the encoding of the product's mappings on a temporal architecture and on an array.
  static void ForEachProduct(const std::function<void(const SmallProduct& product,
                                                      const MappingEncoding& encoding)>& check) {
    for (const char* name : {"gemmini", "eyeriss-like"}) {
      SCOPED_TRACE(name);
      const SmallProduct product(name);
      const auto& [tiles, orders] = GetParam();
      check(product, *MakeMappingEncoding(product.mapspace, product.model, tiles, orders));
    }
  }
  /// Whether it has every mapping, not just those near it.
  static bool is_exact() { return std::get<0>(GetParam()) != "aspect"; }
};

inline std::string EncodingCaseName(const testing::TestParamInfo<EncodingCase>& test) {
  return std::get<0>(test.param) + "_" + std::get<1>(test.param);
}

}  // namespace bayloom::mapspace
