// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/sparse_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/mapspace/sparse/nonzeros.h"

namespace bayloom::mapspace {
namespace {

constexpr int kMaxRanks = 32;
constexpr int kMaxActions = 64;
constexpr int kMaxMetadataBits = 256;

constexpr std::array<std::pair<const char*, RankFormat>, 5> kFormats = {
    {{"UB", RankFormat::kUncompressedBitmask},
     {"B", RankFormat::kBitmask},
     {"RLE", RankFormat::kRunLength},
     {"CP", RankFormat::kCoordinatePayload},
     {"UOP", RankFormat::kOffsetPair}}};

std::string Where(const yaml::YamlValue& value) { return value.Where() + ": "; }

RankFormat ReadFormat(const yaml::YamlValue& value) {
  std::string name = value.Text();
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& [known, format] : kFormats) {
    if (name == known) return format;
  }
  value.Fail("there is no rank format '" + base::SingleLine(value.Text()) +
             "'; there are UB, B, RLE, CP and UOP");
}

std::vector<yaml::YamlValue> Limited(const yaml::YamlValue& list, int limit) {
  std::vector<yaml::YamlValue> items = list.Items();
  if (std::ssize(items) > limit) list.Fail(fmt::format("expected at most {} items", limit));
  return items;
}

RankSpec ReadRank(const yaml::YamlValue& value) {
  RankSpec rank;
  rank.format = ReadFormat(value.At("format"));
  const auto bits = [&](std::initializer_list<std::string_view> keys, int& to) {
    if (const auto given = value.FindAny(keys)) {
      to = static_cast<int>(given->IntWithin(0, kMaxMetadataBits));
    }
  };
  bits({"metadata_word_bits", "metadata-word-bits"}, rank.metadata_bits);
  bits({"payload_word_bits", "payload-word-bits"}, rank.payload_bits);
  if (const auto lists = value.FindAny({"flattened_rankIDs", "flattened-rankIDs"})) {
    for (const yaml::YamlValue& list : Limited(*lists, kMaxDimensions)) {
      rank.flattened.push_back(list.Names());
    }
  }
  return rank;
}

TensorFormat ReadTensorFormat(const yaml::YamlValue& value) {
  TensorFormat format;
  format.tensor = value.At("name").Name();
  format.where = Where(value);
  const yaml::YamlValue ranks = value.At("ranks");
  for (const yaml::YamlValue& rank : Limited(ranks, kMaxRanks)) {
    format.ranks.push_back(ReadRank(rank));
  }
  if (format.ranks.empty()) ranks.Fail("a format needs a rank at least");
  if (const auto order = value.FindAny({"rank_application_order", "rank-application-order"})) {
    std::string name = order->Text();
    std::ranges::replace(name, '_', '-');
    if (name != "inner-to-outer" && name != "outer-to-inner") {
      order->Fail("expected inner-to-outer or outer-to-inner");
    }
    format.inner_to_outer = name == "inner-to-outer";
  }
  const auto is_compressed = [](const RankSpec& rank) {
    return rank.format != RankFormat::kUncompressedBitmask &&
           rank.format != RankFormat::kOffsetPair;
  };
  // Outermost first: zeros that a rank leaves out cannot be kept by those inside of it.
  const auto first = std::ranges::find_if(format.ranks, is_compressed);
  if (!std::all_of(first, format.ranks.end(), is_compressed)) {
    ranks.Fail("ranks inside of a compressed one have to be compressed, too");
  }
  return format;
}

ActionOptimization::Option ReadOption(const yaml::YamlValue& value) {
  return {.target = value.At("target").Name(),
          .condition_on = value.AtAny({"condition_on", "condition-on"}).Names()};
}

ActionOptimization ReadAction(const yaml::YamlValue& value) {
  ActionOptimization action;
  action.where = Where(value);
  const yaml::YamlValue type = value.At("type");
  std::string name = type.Text();
  std::ranges::replace(name, '-', '_');
  if (name == "gating") {
    action.kind = ActionOptimization::Kind::kGating;
  } else if (name == "skipping") {
    action.kind = ActionOptimization::Kind::kSkipping;
  } else if (name == "skipping_spatial" || name == "spatial_skipping") {
    action.kind = ActionOptimization::Kind::kSpatialSkipping;
  } else {
    type.Fail("there is no optimization '" + base::SingleLine(type.Text()) +
              "'; there are gating, skipping and skipping-spatial");
  }
  const auto options = value.Find("options");
  if (!options) {
    action.options.push_back(ReadOption(value));
    return action;
  }
  for (const yaml::YamlValue& option : Limited(*options, kMaxActions)) {
    action.options.push_back(ReadOption(option));
  }
  return action;
}

}  // namespace

namespace {

/// `density:` with a distribution that takes a fraction.
Density ReadFraction(const yaml::YamlValue& value, const std::string& distribution) {
  value.AllowOnly({"distribution", "density", "whole-words"});
  const double fraction = value.At("density").Real();
  Density density = yaml::WithPlace(value, [&] { return MakeDensity(distribution, fraction); });
  const auto words = value.Find("whole-words");
  if (words && density.kind == Density::Kind::kHypergeometric) {
    density.whole_words = words->IntAtLeast(1);
  }
  return density;
}

Density ReadBand(const yaml::YamlValue& value) {
  value.AllowOnly({"distribution", "band_width", "band-width"});
  const auto width = value.FindAny({"band_width", "band-width"});
  return BandedDensity(width ? width->IntWithin(0, kMaxKnownWords) : 0);
}

Density ReadRecorded(const yaml::YamlValue& value) {
  value.AllowOnly({"distribution", "data_file_path", "data-file-path", "digest"});
  const auto digest = value.Find("digest");
  uint64_t expected = 0;
  if (digest) {
    const std::string text = digest->Text();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected, 16);
    if (error != std::errc() || end != text.data() + text.size()) {
      digest->Fail("expected a hexadecimal number");
    }
  }
  const std::string file = value.AtAny({"data_file_path", "data-file-path"}).Text();
  return yaml::WithPlace(value, [&] { return RecordedDensity(file, expected); });
}

}  // namespace

Density ReadDensity(const yaml::YamlValue& value) {
  if (value.IsMap()) {
    const std::string distribution = value.At("distribution").Text();
    if (distribution == "banded" || distribution == "diagonal") return ReadBand(value);
    if (distribution == "real-data" || distribution == "real_data") return ReadRecorded(value);
    return ReadFraction(value, distribution);
  }
  if (const std::string text = value.Text(); text.find(':') != std::string::npos) {
    return yaml::WithPlace(value, [&] { return ParseDensity(text); });
  }
  const double fraction = value.Real();
  return yaml::WithPlace(value, [&] { return MakeDensity("fixed-structured", fraction); });
}

void ReadLevelOptimizations(const yaml::YamlValue& target, LevelSparsity& sparsity) {
  if (const auto found = target.FindAny({"representation_format", "representation-format"})) {
    for (const yaml::YamlValue& tensor :
         Limited(found->AtAny({"data_spaces", "data-spaces"}), kMaxTensors)) {
      sparsity.formats.push_back(ReadTensorFormat(tensor));
    }
  }
  if (const auto found = target.FindAny({"action_optimization", "action-optimization"})) {
    for (const yaml::YamlValue& action : Limited(*found, kMaxActions)) {
      sparsity.actions.push_back(ReadAction(action));
    }
  }
}

void ReadComputeOptimizations(const yaml::YamlValue& target, ComputeSparsity& sparsity) {
  const auto found = target.FindAny({"compute_optimization", "compute-optimization"});
  if (!found) return;
  for (const yaml::YamlValue& item : Limited(*found, kMaxActions)) {
    const yaml::YamlValue type = item.At("type");
    const std::string name = type.Text();
    if (name == "gating" || name == "gate_on_zero_operand") {
      sparsity.gates_zeros = true;
    } else if (name == "skipping" || name == "skip_on_not_aligned_operands") {
      sparsity.skips_unaligned = true;
    } else {
      type.Fail("there is no optimization '" + base::SingleLine(name) +
                "'; there are gating and skipping");
    }
  }
}

void ReadOptimizations(const yaml::YamlValue& section, Architecture& architecture) {
  for (const yaml::YamlValue& target : section.At("targets").Items()) {
    const yaml::YamlValue name = target.At("name");
    target.AllowOnly({"name", "representation_format", "representation-format",
                      "action_optimization", "action-optimization", "compute_optimization",
                      "compute-optimization"});
    const int level = architecture.LevelNamed(name.Name());
    if (level >= 0) {
      ReadLevelOptimizations(target, architecture.levels[level].sparsity);
    } else if (name.Name() == architecture.arithmetic.name) {
      ReadComputeOptimizations(target, architecture.arithmetic.sparsity);
    } else {
      name.Fail(fmt::format("architecture '{}' has no level '{}'", architecture.name, name.Name()));
    }
  }
}

namespace {

std::string PrintRank(const RankSpec& rank) {
  std::string text = fmt::format("        - format: {}\n", ToString(rank.format));
  if (rank.metadata_bits != kBitsOfLevel) {
    text += fmt::format("          metadata-word-bits: {}\n", rank.metadata_bits);
  }
  if (rank.payload_bits != kBitsOfLevel) {
    text += fmt::format("          payload-word-bits: {}\n", rank.payload_bits);
  }
  if (rank.flattened.empty()) return text;
  std::string lists;
  for (const std::vector<std::string>& list : rank.flattened) {
    lists += fmt::format("{}[{}]", lists.empty() ? "" : ", ", fmt::join(list, ", "));
  }
  return text + fmt::format("          flattened-rankIDs: [{}]\n", lists);
}

std::string PrintFormat(const TensorFormat& format) {
  std::string text =
      fmt::format("      - name: {}\n        rank-application-order: {}\n", format.tensor,
                  format.inner_to_outer ? "inner-to-outer" : "outer-to-inner");
  text += "        ranks:\n";
  for (const RankSpec& rank : format.ranks) text += PrintRank(rank);
  return text;
}

std::string PrintAction(const ActionOptimization& action) {
  constexpr const char* kNames[] = {"gating", "skipping", "skipping-spatial"};
  std::string text =
      fmt::format("    - type: {}\n      options:\n", kNames[static_cast<int>(action.kind)]);
  for (const ActionOptimization::Option& option : action.options) {
    text += fmt::format("      - target: {}\n        condition-on: [{}]\n", option.target,
                        fmt::join(option.condition_on, ", "));
  }
  return text;
}

}  // namespace

std::string PrintOptimizations(const Architecture& architecture) {
  std::string text;
  for (const StorageLevel& level : architecture.levels) {
    if (!level.sparsity.IsSparse()) continue;
    text += fmt::format("  - name: {}\n", level.name);
    if (!level.sparsity.formats.empty()) {
      text += "    representation-format:\n      data-spaces:\n";
      for (const TensorFormat& format : level.sparsity.formats) text += PrintFormat(format);
    }
    if (!level.sparsity.actions.empty()) text += "    action-optimization:\n";
    for (const ActionOptimization& action : level.sparsity.actions) text += PrintAction(action);
  }
  const ComputeSparsity& computes = architecture.arithmetic.sparsity;
  if (computes.IsSparse()) {
    text += fmt::format("  - name: {}\n    compute-optimization:\n", architecture.arithmetic.name);
    if (computes.gates_zeros) text += "    - type: gating\n";
    if (computes.skips_unaligned) text += "    - type: skipping\n";
  }
  return text.empty() ? text : "sparse_optimizations:\n  targets:\n" + text;
}

}  // namespace bayloom::mapspace
