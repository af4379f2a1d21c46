// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {

bool Architecture::IsSparse() const {
  return arithmetic.sparsity.IsSparse() ||
         std::ranges::any_of(levels,
                             [](const StorageLevel& level) { return level.sparsity.IsSparse(); });
}

int Architecture::LevelNamed(std::string_view wanted) const {
  const auto position = [&](std::string_view name_of_level) {
    const auto found = std::ranges::find(levels, name_of_level, &StorageLevel::name);
    return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
  };
  if (const int level = position(wanted); level >= 0) return level;
  if (IsTimeloopMesh(wanted)) wanted = wanted.substr(6, wanted.size() - 14);
  const auto mesh = std::ranges::find(meshes, wanted, &NamedMesh::name);
  return mesh == meshes.end() ? -1 : position(mesh->outside);
}

bool Architecture::IsMesh(int level) const {
  return std::ranges::any_of(meshes, [&](const NamedMesh& mesh) {
    return mesh.is_level && mesh.name == levels[level].name;
  });
}

double StorageLevel::Slowdown(double reads, double writes) const {
  // In this order and with this rounding, which Timeloop's last digits depend on.
  double slowdown = 1;
  if (read_bandwidth < reads) slowdown = read_bandwidth / reads;
  if (write_bandwidth < writes) slowdown = std::min(slowdown, write_bandwidth / writes);
  if (shared_bandwidth < reads + writes) {
    slowdown = std::min(slowdown, shared_bandwidth / (reads + writes));
  }
  return slowdown;
}

double StorageLevel::Bandwidth(double reads, double writes) const {
  const double moved = reads + writes;
  double bandwidth = shared_bandwidth;
  if (reads > 0) bandwidth = std::min(bandwidth, read_bandwidth * moved / reads);
  if (writes > 0) bandwidth = std::min(bandwidth, write_bandwidth * moved / writes);
  return bandwidth;
}

int Architecture::FirstPart(int level) const {
  while (levels[level].is_part) --level;
  return level;
}

int Architecture::LastPart(int level) const {
  while (level + 1 < LevelCount() && levels[level + 1].is_part) ++level;
  return level;
}

Fanout Architecture::FanoutOf(int level) const {
  const StorageLevel& outer = levels[level];
  const int64_t inner_instances = level == 0 ? arithmetic.instances : levels[level - 1].instances;
  const int64_t inner_mesh_x = level == 0 ? arithmetic.mesh_x : levels[level - 1].mesh_x;
  const int64_t x = std::max<int64_t>(1, inner_mesh_x / outer.mesh_x);
  return {x, std::max<int64_t>(1, inner_instances / outer.instances / x)};
}

std::string Architecture::Describe() const {
  std::string text = fmt::format("{}: {} multiplier{} of {} bits, {:.4g} pJ each\n", name,
                                 arithmetic.instances, arithmetic.instances == 1 ? "" : "s",
                                 arithmetic.word_bits, arithmetic.mac_energy_pj);
  for (int l = 0; l < LevelCount(); ++l) {
    const StorageLevel& level = levels[l];
    const Fanout fanout = FanoutOf(l);
    text += fmt::format(
        "  {:<20} {:>6} x {:>10} words of {:>2} bits, {:8.4g} pJ a word, feeds {}x{}\n", level.name,
        level.instances, level.words == 0 ? "unbounded" : std::to_string(level.words),
        level.word_bits, level.access_energy_pj / static_cast<double>(level.block_words), fanout.x,
        fanout.y);
  }
  return text;
}

void CheckArchitecture(const Architecture& architecture) {
  if (architecture.levels.empty() || architecture.levels.size() > kMaxLevels) {
    throw InputError("architecture '" + architecture.name + "' has " +
                     std::to_string(architecture.levels.size()) + " levels of memory; 1 to " +
                     std::to_string(kMaxLevels) + " are possible");
  }
  std::set<std::string> names;
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const StorageLevel& level = architecture.levels[l];
    if (!names.insert(level.name).second) {
      throw InputError("two levels of memory are called '" + level.name + "'");
    }
    if (level.is_part && (l == 0 || level.instances != architecture.levels[l - 1].instances ||
                          level.words != architecture.levels[l - 1].words)) {
      throw InputError(
          fmt::format("level '{}' is no part of the memory of the level inside", level.name));
    }
    const bool innermost = l == 0;
    const int64_t inner =
        innermost ? architecture.arithmetic.instances : architecture.levels[l - 1].instances;
    const int64_t inner_x =
        innermost ? architecture.arithmetic.mesh_x : architecture.levels[l - 1].mesh_x;
    if (level.instances < 1 || inner % level.instances != 0 || inner_x % level.mesh_x != 0 ||
        level.instances % level.mesh_x != 0) {
      throw InputError(fmt::format(
          "level '{}' has {} instances in rows of {}, which do not divide the {} in rows of {} "
          "that they feed",
          level.name, level.instances, level.mesh_x, inner, inner_x));
    }
  }
  if (architecture.arithmetic.instances % architecture.arithmetic.mesh_x != 0) {
    throw InputError("the multipliers do not fill rows of their meshX");
  }
}

double SramAccessEnergy(int64_t height, int64_t width_bits) {
  // 1 at half a kilobyte and 6 at a hundred, for every 16 bits.
  const double kilobytes = static_cast<double>(height) * static_cast<double>(width_bits) / 8192;
  return (1 + 5 / 99.5 * (kilobytes - 0.5)) * static_cast<double>(width_bits) / 16;
}

double DramAccessEnergy(int64_t width_bits) { return 200.0 * static_cast<double>(width_bits) / 16; }

double MacEnergy(int word_bits) { return word_bits / 16.0 * word_bits / 16.0; }

}  // namespace bayloom::mapspace
