// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "bayloom/mapspace/sparse/sparse_yaml.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::mapspace {
namespace {

std::string PrintConstraint(const Directive& directive) {
  constexpr const char* kKinds[] = {"temporal", "spatial", "bypass"};
  std::string text = fmt::format("  - target: {}\n    type: {}\n", directive.target,
                                 kKinds[static_cast<int>(directive.kind)]);
  if (directive.kind == Directive::Kind::kBypass) {
    return text + fmt::format("    keep: [{}]\n    bypass: [{}]\n", fmt::join(directive.keep, ", "),
                              fmt::join(directive.bypass, ", "));
  }
  if (!directive.factors.empty()) text += "    factors:";
  for (const Directive::Factor& factor : directive.factors) {
    text += fmt::format(" {}{}{}", factor.dimension, factor.at_most ? "<=" : "=", factor.value);
  }
  if (!directive.factors.empty()) text += "\n";
  if (!directive.permutation.empty()) {
    text += fmt::format("    permutation: \"{}\"\n", directive.permutation);
  }
  if (directive.split >= 0) text += fmt::format("    split: {}\n", directive.split);
  return text;
}

std::string PrintMetadataStorage(const LevelSparsity& sparsity) {
  const LevelSparsity plain;
  std::string text;
  const auto print = [&](const char* key, auto value, auto otherwise) {
    if (value != otherwise) text += fmt::format("    {}: {}\n", key, value);
  };
  print("metadata_datawidth", sparsity.metadata_word_bits, plain.metadata_word_bits);
  print("metadata_storage_width", sparsity.metadata_width_bits, plain.metadata_width_bits);
  print("metadata_storage_depth", sparsity.metadata_depth, plain.metadata_depth);
  if (sparsity.HasMetadataStorage()) {
    text += fmt::format("    metadata_access_energy: {}\n", sparsity.metadata_access_energy_pj);
  }
  print("gated_access_energy", sparsity.gated_access_energy_pj, plain.gated_access_energy_pj);
  print("tile_confidence", sparsity.fit_probability, plain.fit_probability);
  return text;
}

}  // namespace

std::string PrintConstraintsYaml(std::span<const Directive> constraints) {
  if (constraints.empty()) return "";
  std::string text = "  constraints:\n";
  for (const Directive& directive : constraints) text += PrintConstraint(directive);
  return text;
}

std::string PrintArchitectureYaml(const Architecture& architecture) {
  const Arithmetic& arithmetic = architecture.arithmetic;
  std::string text = fmt::format(
      "arch:\n  arithmetic:\n    name: {}\n    instances: {}\n    meshX: {}\n    word-bits: {}\n",
      arithmetic.name, arithmetic.instances, arithmetic.mesh_x, arithmetic.word_bits);
  // The tool reads whole numbers here, and refuses others.
  if (arithmetic.mac_energy_pj != MacEnergy(arithmetic.word_bits)) {
    text += fmt::format("    energy: {}\n", arithmetic.mac_energy_pj);
  }
  if (arithmetic.sparsity.gated_energy_pj != 0) {
    text += fmt::format("    gated_energy: {}\n", arithmetic.sparsity.gated_energy_pj);
  }
  text += "  storage:\n";
  for (const StorageLevel& level : architecture.levels) {
    text += fmt::format("  - name: {}\n", level.name);
    text +=
        level.words == 0 ? "    technology: DRAM\n" : fmt::format("    entries: {}\n", level.words);
    text += fmt::format(
        "    instances: {}\n    meshX: {}\n    word-bits: {}\n    block-size: {}\n"
        "    vector-access-energy: {}\n",
        level.instances, level.mesh_x, level.word_bits, level.block_words, level.access_energy_pj);
    if (level.write_energy_pj) {
      text += fmt::format("    vector-write-energy: {}\n", *level.write_energy_pj);
    }
    if (std::isfinite(level.read_bandwidth)) {
      text += fmt::format("    read_bandwidth: {}\n", level.read_bandwidth);
    }
    if (std::isfinite(level.write_bandwidth)) {
      text += fmt::format("    write_bandwidth: {}\n", level.write_bandwidth);
    }
    if (std::isfinite(level.shared_bandwidth)) {
      text += fmt::format("    shared_bandwidth: {}\n", level.shared_bandwidth);
    }
    if (level.is_part) text += "    same-memory: true\n";
    text += PrintMetadataStorage(level.sparsity);
  }
  return text + PrintConstraintsYaml(architecture.constraints) + PrintOptimizations(architecture);
}

}  // namespace bayloom::mapspace
