// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/mapspace/random_accelerator.h"

#include <span>

namespace bayloom::mapspace {
namespace {

int64_t OneOf(std::span<const int64_t> values, base::RandomStream& random) {
  return values[random.UniformInt(std::ssize(values))];
}

}  // namespace

Problem RandomProblem(base::RandomStream& random) {
  static constexpr int64_t kBounds[] = {1, 2, 3, 4, 6, 8};
  static constexpr int64_t kKernels[] = {1, 2, 3};
  static constexpr int64_t kSmall[] = {1, 2, 4};
  const auto bound = [&] { return OneOf(kBounds, random); };
  const auto kernel = [&] { return OneOf(kKernels, random); };
  const auto small = [&] { return OneOf(kSmall, random); };
  switch (random.UniformInt(4)) {
    case 0:
      return MatmulProblem(bound(), bound(), bound());
    case 1:
      return BatchMatmulProblem(small(), small(), bound(), small());
    case 2:
      return Conv2dProblem({.r = kernel(),
                            .s = 1,
                            .p = small(),
                            .q = 1,
                            .c = small(),
                            .m = small(),
                            .p_stride = 1 + random.UniformInt(2),
                            .r_dilation = 1 + random.UniformInt(2)});
    default:
      return Conv2dProblem({.r = kernel(),
                            .s = kernel(),
                            .p = small(),
                            .q = small(),
                            .p_stride = 1 + random.UniformInt(2)});
  }
}

Architecture RandomAccelerator(const Problem& problem, base::RandomStream& random) {
  static constexpr int64_t kFanouts[] = {1, 1, 2, 4, 6};
  static constexpr int64_t kWords[] = {0, 4, 8, 16, 40, 100};
  Architecture architecture;
  architecture.name = "random";
  const int levels = 2 + static_cast<int>(random.UniformInt(2));
  architecture.levels.resize(levels);
  int64_t instances = 1;
  for (int l = levels - 1; l >= 0; --l) {
    StorageLevel& level = architecture.levels[l];
    level.name = "L" + std::to_string(l);
    level.instances = instances;
    level.mesh_x = instances;
    level.words = l == levels - 1 ? 0 : OneOf(kWords, random);
    level.access_energy_pj = static_cast<double>(1 + random.UniformInt(20)) * (l + 1);
    if (random.UniformInt(3) == 0) level.write_energy_pj = 2 * level.access_energy_pj;
    const auto words_a_cycle = [&] { return 0.25 * static_cast<double>(1 + random.UniformInt(8)); };
    if (random.UniformInt(3) == 0) level.read_bandwidth = words_a_cycle();
    if (random.UniformInt(3) == 0) level.write_bandwidth = words_a_cycle();
    if (l == 1 && random.UniformInt(3) == 0) level.shared_bandwidth = words_a_cycle();
    instances *= OneOf(kFanouts, random);
    if (l == levels - 1) continue;
    Directive bypass = {.kind = Directive::Kind::kBypass, .target = level.name};
    for (const DataSpace& tensor : problem.tensors) {
      const int64_t choice = random.UniformInt(4);
      if (choice < 2) bypass.keep.push_back(tensor.name);
      if (choice == 2) bypass.bypass.push_back(tensor.name);
    }
    architecture.constraints.push_back(bypass);
  }
  architecture.arithmetic.instances = architecture.arithmetic.mesh_x = instances;
  return architecture;
}

std::vector<Directive> RandomConstraints(const Problem& problem, const Architecture& architecture,
                                         base::RandomStream& random) {
  const int64_t choice = random.UniformInt(6);
  const std::string& dimension = problem.dimensions[random.UniformInt(problem.DimensionCount())];
  const std::string& level =
      architecture.levels[random.UniformInt(architecture.LevelCount() - 1)].name;
  Directive directive = {.kind = Directive::Kind::kTemporal, .target = level};
  if (choice == 0) {
    directive.factors = {{dimension, 1, false}};
  } else if (choice == 1) {
    directive.factors = {{dimension, 2, true}};
  } else if (choice == 2) {
    directive.target = architecture.levels.back().name;
    directive.permutation = dimension;
  } else {
    return {};
  }
  return {directive};
}

}  // namespace bayloom::mapspace
