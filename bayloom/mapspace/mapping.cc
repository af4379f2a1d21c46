// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapping.h"

#include <fmt/format.h>

#include "bayloom/base/hash.h"

namespace bayloom::mapspace {

Mapping OutermostMapping(const Problem& problem, const Architecture& architecture) {
  Mapping mapping;
  mapping.levels.resize(architecture.levels.size());
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    mapping.levels.back().temporal[d] = problem.bounds[d];
  }
  return mapping;
}

namespace {

bool IsPermutation(const std::array<int8_t, kMaxDimensions>& order, int dimensions) {
  DimensionSet seen = 0;
  for (int i = 0; i < dimensions; ++i) {
    if (order[i] < 0 || order[i] >= dimensions) return false;
    seen |= DimensionSet{1} << order[i];
  }
  return seen == (DimensionSet{1} << dimensions) - 1;
}

}  // namespace

Status CheckMapping(const Mapping& mapping, const Problem& problem,
                    const Architecture& architecture) {
  if (mapping.levels.size() != architecture.levels.size()) {
    return Error{fmt::format("the mapping has {} levels, the architecture {}",
                             mapping.levels.size(), architecture.levels.size())};
  }
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    int64_t product = 1;
    for (const MappingLevel& level : mapping.levels) {
      if (level.temporal[d] < 1 || level.spatial[d] < 1) {
        return Error{fmt::format("a factor of {} is below 1", problem.dimensions[d])};
      }
      product *= level.temporal[d] * level.spatial[d];
    }
    if (product != problem.bounds[d]) {
      return Error{fmt::format("the factors of {} multiply up to {}, not to its bound {}",
                               problem.dimensions[d], product, problem.bounds[d])};
    }
  }
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    if (!IsPermutation(mapping.levels[l].order, problem.DimensionCount())) {
      return Error{fmt::format("the loop order of {} is no permutation of the dimensions",
                               architecture.levels[l].name)};
    }
  }
  for (int t = 0; t < problem.TensorCount(); ++t) {
    if (!mapping.levels.back().Keeps(t)) {
      return Error{fmt::format("{}, the outermost level, must keep {}",
                               architecture.levels.back().name, problem.tensors[t].name)};
    }
  }
  return Ok();
}

namespace {

/// One `for` of the printed nest.
std::string PrintLoop(const std::string& dimension, int64_t extent, const char* axis) {
  return extent == 1 ? ""
                     : fmt::format("for {} in [0:{}){}\n", dimension, extent,
                                   *axis == '\0' ? "" : fmt::format(" (Spatial-{})", axis));
}

/// The printed loops of one level, outermost first.
std::vector<std::string> PrintLoops(const MappingLevel& level, const Problem& problem) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
  };
  for (int i = problem.DimensionCount() - 1; i >= 0; --i) {
    add(PrintLoop(problem.dimensions[level.order[i]], level.temporal[level.order[i]], ""));
  }
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    add(PrintLoop(problem.dimensions[d], level.spatial[d], level.AlongY(d) ? "Y" : "X"));
  }
  return lines;
}

/// Extents of the tile at each level: what its loops and all loops inside run over.
std::vector<Extents> Tiles(const Mapping& mapping, int dimensions) {
  std::vector<Extents> tiles;
  Extents tile = kUnitExtents;
  for (const MappingLevel& level : mapping.levels) {
    for (int d = 0; d < dimensions; ++d) tile[d] *= level.temporal[d] * level.spatial[d];
    tiles.push_back(tile);
  }
  return tiles;
}

}  // namespace

std::string PrintLoopNest(const Mapping& mapping, const Problem& problem,
                          const Architecture& architecture) {
  const std::vector<Extents> tiles = Tiles(mapping, problem.DimensionCount());
  std::string text;
  int depth = 0;
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    std::string header = architecture.levels[l].name + " [";
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      header +=
          fmt::format(" {}:{}", problem.tensors[t].name, problem.tensors[t].BoxWords(tiles[l]));
    }
    header += " ]\n";
    text += header + std::string(header.size() - 1, '-') + "\n";
    for (const std::string& line : PrintLoops(mapping.levels[l], problem)) {
      text += "|" + std::string(1 + 2 * depth++, ' ') + line;
    }
    text += "\n";
  }
  return text;
}

uint64_t HashOf(const Mapping& mapping, const Problem& problem) {
  base::Hasher hasher;
  for (const MappingLevel& level : mapping.levels) {
    hasher.Add(level.keep & ((uint64_t{1} << problem.TensorCount()) - 1));
    for (int i = 0; i < problem.DimensionCount(); ++i) {
      const int d = level.order[i];
      if (level.temporal[d] == 1) continue;
      hasher.Add(static_cast<uint64_t>(d)).Add(static_cast<uint64_t>(level.temporal[d]));
    }
    hasher.Add(~uint64_t{0});  // its end
    for (int d = 0; d < problem.DimensionCount(); ++d) {
      hasher.Add(static_cast<uint64_t>(level.spatial[d]));
      hasher.Add(static_cast<uint64_t>(level.spatial[d] > 1 && level.AlongY(d)));
    }
  }
  return hasher.Digest();
}

std::string PrintCompact(const Mapping& mapping, const Problem& problem) {
  std::string text;
  for (int l = static_cast<int>(mapping.levels.size()) - 1; l >= 0; --l) {
    const MappingLevel& level = mapping.levels[l];
    text += fmt::format("L{}[", l);
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (level.Keeps(t)) text += problem.tensors[t].name[0];
    }
    text += "]";
    for (int i = problem.DimensionCount() - 1; i >= 0; --i) {
      const int d = level.order[i];
      if (level.temporal[d] > 1) {
        text += fmt::format(" {}{}", problem.dimensions[d], level.temporal[d]);
      }
    }
    for (int d = 0; d < problem.DimensionCount(); ++d) {
      if (level.spatial[d] == 1) continue;
      text += fmt::format(" {}{}{}", problem.dimensions[d], level.spatial[d],
                          level.AlongY(d) ? 'Y' : 'X');
    }
    if (l > 0) text += " - ";
  }
  return text;
}

}  // namespace bayloom::mapspace
