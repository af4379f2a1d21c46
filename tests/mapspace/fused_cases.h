// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "bayloom/mapspace/fused/group_cost.h"
#include "tests/mapspace/tiny_network.h"

namespace bayloom::mapspace {

/// Tiles of an image's rows and columns.
inline DepthFirstTiling Tiles(int64_t rows, int64_t columns, bool keeps_rows, bool keeps_columns) {
  return {.axes = {{2, rows, keeps_rows}, {3, columns, keeps_columns}}};
}

/// Every multiply-accumulate costs one pJ and a cycle; words are moved once.
inline std::optional<TileCost> PlainCost(int, const Problem& tile, RetentionLevel) {
  TileCost cost = {.energy_pj = static_cast<double>(tile.Macs()),
                   .cycles = tile.Macs(),
                   .operations = static_cast<double>(tile.Macs())};
  for (const DataSpace& tensor : tile.tensors) {
    (tensor.read_write ? cost.home_writes : cost.home_reads) += tensor.BoxWords(tile.Whole());
  }
  return cost;
}

/// Sixteen multipliers, one level on the chip for everything.
inline Architecture OneBuffer(int64_t words) {
  Architecture architecture;
  architecture.name = "one-buffer";
  architecture.arithmetic.instances = 16;
  architecture.levels = {
      {.name = "Registers", .words = 16, .instances = 16, .access_energy_pj = 1},
      {.name = "Buffer", .words = words, .access_energy_pj = 6},
      {.name = "DRAM", .read_bandwidth = 2, .write_bandwidth = 2, .access_energy_pj = 200}};
  CheckArchitecture(architecture);
  return architecture;
}

/// The first five convolutions of VGGNet-E and the pools between them, the example of Alwani et al.
/// 2016.
inline TinyNetwork BeginningOfVggE() {
  TinyNetwork network;
  int last = network.Input(3, 224, 224);
  for (const int64_t channels : {64, 64, 0, 128, 128, 0, 256}) {
    last =
        channels == 0 ? network.Pool(last, 2, 2, 0) : network.Convolution(last, channels, 3, 1, 1);
  }
  return network;
}

/// All operators, with the tensors between them in the buffer.
inline FusedGroup Whole(const FusedNetwork& network, DepthFirstTiling tiling) {
  return {.begin = 0,
          .end = network.OperatorCount(),
          .home = RetentionLevel{.level = 1},
          .tiling = std::move(tiling)};
}

}  // namespace bayloom::mapspace
