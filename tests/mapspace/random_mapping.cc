// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/random_mapping.h"

#include <algorithm>

namespace bayloom::mapspace {
namespace {

/// Multiplies one prime factor into a random place.
void PlacePrime(int64_t prime, int dimension, const Architecture& architecture, int dimensions,
                Mapping& mapping, base::RandomStream& random) {
  const int l = static_cast<int>(random.UniformInt(architecture.LevelCount()));
  MappingLevel& level = mapping.levels[l];
  MappingLevel spread = level;
  spread.spatial[dimension] *= prime;
  if (level.spatial[dimension] == 1 && random.UniformInt(2) == 1) {
    spread.along_y ^= DimensionSet{1} << dimension;
  }
  const Fanout used = spread.Spread(dimensions);
  const Fanout possible = architecture.FanoutOf(l);
  if (random.UniformInt(2) == 1 && used.x <= possible.x && used.y <= possible.y) {
    level = spread;
  } else {
    level.temporal[dimension] *= prime;
  }
}

}  // namespace

Mapping RandomMapping(const Problem& problem, const Architecture& architecture,
                      base::RandomStream& random) {
  const int dimensions = problem.DimensionCount();
  Mapping mapping;
  mapping.levels.resize(architecture.levels.size());
  for (int d = 0; d < dimensions; ++d) {
    int64_t rest = problem.bounds[d];
    for (int64_t prime = 2; rest > 1; ++prime) {
      for (; rest % prime == 0; rest /= prime) {
        PlacePrime(prime, d, architecture, dimensions, mapping, random);
      }
    }
  }
  for (MappingLevel& level : mapping.levels) {
    for (int i = dimensions - 1; i > 0; --i) {
      std::swap(level.order[i], level.order[random.UniformInt(i + 1)]);
    }
    level.keep = static_cast<uint32_t>(random.UniformInt(int64_t{1} << problem.TensorCount()));
  }
  mapping.levels.back().keep = (uint32_t{1} << problem.TensorCount()) - 1;
  return mapping;
}

Architecture SmallArchitecture() {
  Architecture architecture;
  architecture.name = "small";
  architecture.arithmetic.instances = 8;
  architecture.arithmetic.mesh_x = 2;
  struct {
    const char* name;
    int64_t instances, mesh_x;
  } const levels[] = {{"Registers", 8, 2}, {"Buffer", 4, 2}, {"Memory", 1, 1}};
  for (const auto& [name, instances, mesh_x] : levels) {
    StorageLevel& level = architecture.levels.emplace_back();
    level.name = name;
    level.instances = instances;
    level.mesh_x = mesh_x;
    level.access_energy_pj = 1;
  }
  return architecture;
}

}  // namespace bayloom::mapspace
