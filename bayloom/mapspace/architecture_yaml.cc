// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/mapspace/architecture_nodes.h"
#include "bayloom/mapspace/directive_yaml.h"
#include "bayloom/mapspace/formats/accelforge.h"
#include "bayloom/mapspace/formats/maestro.h"
#include "bayloom/mapspace/formats/zigzag.h"
#include "bayloom/mapspace/sparse/sparse_yaml.h"
#include "bayloom/mapspace/technology.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/mapspace/unit_cost.h"
#include "bayloom/space/value.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {
namespace {

/// "PE[0..167]" is 168 of them.
struct NamedRange {
  std::string name;
  int64_t count = 1;
};

/// As kMaxUnitInstances.
constexpr int64_t kMaxInstances = kMaxUnitInstances;
constexpr int64_t kMaxWords = int64_t{1} << 50;
constexpr int kMaxWordBits = kMaxUnitBits;

std::optional<int64_t> ParseIndex(std::string_view text) {
  int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool is_index = error == std::errc() && end == text.data() + text.size();
  return is_index && index >= 0 ? std::optional(index) : std::nullopt;
}

NamedRange ReadName(const yaml::YamlValue& value) {
  const std::string text = value.Name();
  const size_t open = text.rfind('[');
  const size_t dots = text.rfind("..");
  if (open == std::string::npos || dots == std::string::npos || dots < open || text.back() != ']') {
    return {text};
  }
  const std::string_view bounds = text;
  const auto first = ParseIndex(bounds.substr(open + 1, dots - open - 1));
  const auto last = ParseIndex(bounds.substr(dots + 2, text.size() - dots - 3));
  if (!first || !last) return {text};
  if (*last < *first) value.Fail("'" + text + "' is an empty range");
  if (*last - *first >= kMaxInstances) {
    value.Fail(fmt::format("'{}' has more than {} instances", text, kMaxInstances));
  }
  return {text.substr(0, open), *last - *first + 1};
}

/// A product of two positive numbers; `value` is blamed where it exceeds the limit.
int64_t Product(const yaml::YamlValue& value, int64_t a, int64_t b, int64_t limit,
                std::string_view unit) {
  if (a > limit / b) value.Fail(fmt::format("there are more than {} {}", limit, unit));
  return a * b;
}

/// All keys of units that are known.
std::vector<std::string_view> UnitKeys() {
  const std::initializer_list<std::string_view> groups[] = {
      {"name", "class", "subclass", "enabled", "attributes", "technology"},
      {"instances", "meshX", "meshY"},
      {"word-bits", "word_bits", "word_width", "datawidth"},
      {"block-size", "block_size", "n_words", "cluster-size", "cluster_size"},
      {"width", "memory_width", "data_storage_width"},
      {"depth", "memory_depth", "data_storage_depth", "entries", "sizeKB"},
      {"multiple-buffering", "multiple_buffering"},
      {"energy", "vector-access-energy", "vector_access_energy"},
      {"vector-write-energy", "vector_write_energy"},
      {"bandwidth", "read_bandwidth", "write_bandwidth", "shared_bandwidth"},
      {"metadata_datawidth", "metadata_word_bits", "metadata_access_energy"},
      {"metadata_storage_width", "metadata_storage_depth"},
      {"gated_access_energy", "gated_energy", "tile_confidence"},
      {"same-memory"}};
  std::vector<std::string_view> keys;
  for (const auto& group : groups) keys.insert(keys.end(), group);
  return keys;
}

/// One memory or arithmetic unit: its keys stand beside its name or under `attributes`.
class UnitReader {
 public:
  UnitReader(const yaml::YamlValue& unit, int64_t copies, const Technology* technology)
      : unit_(unit), attributes_(unit.Find("attributes").value_or(unit)), technology_(technology) {
    static const std::vector<std::string_view> kKnown = UnitKeys();
    unit_.RefuseMisspelt(kKnown);
    attributes_.RefuseMisspelt(kKnown);
    const auto name = unit.Find("name");
    const NamedRange range = name ? ReadName(*name) : NamedRange{"MAC"};
    name_ = range.name;
    copies_ = Product(unit, copies, range.count, kMaxInstances, "instances");
    for (const char* key : {"class", "subclass"}) {
      if (const auto kind = unit.Find(key)) RefuseMisspeltClass(*kind);
    }
    if (const auto kind = unit.FindAny({"class", "subclass"})) class_ = kind->Text();
  }

  const std::string& name() const { return name_; }

  /// Whether it is there at all.
  bool IsEnabled() const {
    const auto enabled = attributes_.Find("enabled");
    if (!enabled) return true;
    double number = 0;
    if (!space::ParseNumber(enabled->Text(), number)) enabled->Fail("expected true or false");
    return number != 0;
  }

  bool IsArithmetic() const { return IsArithmeticClass(class_); }
  bool IsNetwork() const { return IsNetworkClass(class_); }

  Arithmetic ReadArithmetic() const {
    Arithmetic arithmetic;
    arithmetic.name = name_;
    arithmetic.word_bits = WordBits();
    ReadInstances(arithmetic.instances, arithmetic.mesh_x);
    ReadArithmeticEnergies(
        arithmetic, [&](const UnitAttribute& attribute) { return Find(attribute); }, technology_);
    return arithmetic;
  }

  /// Places of keys that the model does not count.
  std::vector<std::string> WithoutEffect() const {
    return PlacesOf(attributes_, {"min-utilization"});
  }

  StorageLevel ReadStorage() const {
    StorageLevel level;
    level.name = name_;
    level.word_bits = WordBits();
    ReadInstances(level.instances, level.mesh_x);
    int64_t cluster = 1;
    ReadBlock(level, cluster);
    const std::optional<int64_t> words = Words(level);
    if (!words && !IsDram()) {
      unit_.Fail("memory '" + name_ + "' needs its size: entries, depth or sizeKB");
    }
    level.words = words.value_or(0);
    const auto find = [&](const UnitAttribute& attribute) { return Find(attribute); };
    if (const auto both = find({{"bandwidth"}, kMinUnitBandwidth, kMaxUnitBandwidth})) {
      level.read_bandwidth = level.write_bandwidth = *both;
    }
    ReadStorageAttributes(level, find, cluster, IsDram(), technology_);
    if (const auto same = attributes_.Find("same-memory")) level.is_part = same->Text() == "true";
    DivideIntoBuffers(level, find);
    return level;
  }

 private:
  bool IsDram() const {
    if (class_.find("DRAM") != std::string::npos) return true;
    const auto technology = attributes_.Find("technology");
    return technology && technology->Text() == "DRAM";
  }

  int WordBits() const {
    const auto bits = attributes_.FindAny({"word-bits", "word_bits", "word_width", "datawidth"});
    return bits ? static_cast<int>(bits->IntWithin(1, kMaxWordBits)) : 16;
  }

  void ReadInstances(int64_t& instances, int64_t& mesh_x) const {
    const auto count = attributes_.Find("instances");
    instances = count ? count->IntWithin(1, kMaxInstances) : copies_;
    const auto x = attributes_.Find("meshX");
    const auto y = attributes_.Find("meshY");
    mesh_x = x   ? x->IntWithin(1, kMaxInstances)
             : y ? instances / y->IntWithin(1, kMaxInstances)
                 : instances;
    if (mesh_x == 0 || instances % mesh_x != 0) {
      (x ? *x : *y).Fail(fmt::format("{} instances do not fill such a mesh", instances));
    }
  }

  void ReadBlock(StorageLevel& level, int64_t& cluster) const {
    const auto block = attributes_.FindAny({"block-size", "block_size", "n_words"});
    const auto clusters = attributes_.FindAny({"cluster-size", "cluster_size"});
    const auto width = attributes_.FindAny({"width", "memory_width", "data_storage_width"});
    if (block) level.block_words = block->IntWithin(1, kMaxBlockWords);
    if (clusters) cluster = clusters->IntWithin(1, kMaxBlockWords);
    if (!width) return;
    const int64_t bits = width->IntWithin(1, kMaxBlockWords);
    const int64_t words = bits / level.word_bits;
    if (words == 0 || bits % level.word_bits != 0) {
      width->Fail(fmt::format("is no multiple of words of {} bits", level.word_bits));
    }
    if (!block) {
      level.block_words = std::max<int64_t>(1, words / cluster);
    } else if (!clusters) {
      cluster = std::max<int64_t>(1, words / level.block_words);
    }
  }

  std::optional<int64_t> Words(const StorageLevel& level) const {
    if (const auto entries = attributes_.Find("entries")) return entries->IntWithin(1, kMaxWords);
    if (const auto depth = attributes_.FindAny({"depth", "memory_depth", "data_storage_depth"})) {
      return Product(*depth, depth->IntAtLeast(1), level.block_words, kMaxWords, "words");
    }
    if (const auto kilobytes = attributes_.Find("sizeKB")) {
      return kilobytes->IntWithin(1, kMaxWords / 8192) * 8192 / level.word_bits;
    }
    return std::nullopt;
  }

  std::optional<double> Find(const UnitAttribute& attribute) const {
    const auto found = attributes_.FindAny(attribute.keys);
    return found ? std::optional(found->RealWithin(attribute.low, attribute.high)) : std::nullopt;
  }

  yaml::YamlValue unit_;
  yaml::YamlValue attributes_;
  const Technology* technology_;
  std::string name_;
  std::string class_;
  int64_t copies_ = 1;
};

void CheckLevelCount(const yaml::YamlValue& last, const Architecture& architecture) {
  if (architecture.levels.size() > kMaxLevels) {
    last.Fail(fmt::format("there are more than {} levels of memory", kMaxLevels));
  }
}

/// Reads the units of an architecture.
class ArchitectureReader {
 public:
  ArchitectureReader(Architecture& architecture, const Technology* technology)
      : architecture_(architecture), technology_(technology) {}

  /// A tree's units, outermost first; `copies` of this node.
  void ReadTree(const yaml::YamlValue& node, int64_t copies) {
    if (const auto local = node.Find("local")) {
      for (const yaml::YamlValue& item : local->Items()) {
        const UnitReader unit(item, copies, technology_);
        if (unit.IsArithmetic()) {
          architecture_.arithmetic = unit.ReadArithmetic();
          has_arithmetic_ = true;
        } else if (!unit.IsNetwork()) {
          AddStorage(unit, item, architecture_.levels.begin());
        }
      }
    }
    const auto subtree = node.Find("subtree");
    if (!subtree) return;
    for (const yaml::YamlValue& child : subtree->Items()) {
      const yaml::YamlValue name = child.At("name");
      ReadTree(child, Product(name, copies, ReadName(name).count, kMaxInstances, "instances"));
    }
  }

  /// `arithmetic:` and `storage:`, innermost first.
  void ReadLists(const yaml::YamlValue& root) {
    architecture_.arithmetic = UnitReader(root.At("arithmetic"), 1, technology_).ReadArithmetic();
    has_arithmetic_ = true;
    for (const yaml::YamlValue& level : root.At("storage").Items()) {
      AddStorage(UnitReader(level, 1, technology_), level, architecture_.levels.end());
    }
  }

  void ReadConstraints(const yaml::YamlValue& list) {
    architecture_.constraints = ReadDirectives(list);
    std::erase_if(architecture_.constraints, [&](const Directive& directive) {
      return std::ranges::find(left_out_, directive.target) != left_out_.end();
    });
  }

  bool has_arithmetic() const { return has_arithmetic_; }

 private:
  void AddStorage(const UnitReader& unit, const yaml::YamlValue& item,
                  std::vector<StorageLevel>::const_iterator place) {
    if (!unit.IsEnabled()) {
      left_out_.push_back(unit.name());
      return;
    }
    architecture_.levels.insert(place, unit.ReadStorage());
    std::ranges::move(unit.WithoutEffect(), std::back_inserter(architecture_.without_effect));
    CheckLevelCount(item, architecture_);
  }

  Architecture& architecture_;
  const Technology* technology_;
  bool has_arithmetic_ = false;
  std::vector<std::string> left_out_;  ///< names of units that are not enabled
};

void ReadSparsity(const yaml::YamlValue& document, Architecture& architecture) {
  if (const auto section = document.FindAny({"sparse_optimizations", "sparse-optimizations"})) {
    ReadOptimizations(*section, architecture);
  }
}

Architecture ReadDocument(const yaml::YamlValue& document, const std::string& name,
                          const Technology* technology) {
  if (document.IsMap() && document.Find("operational_array")) {
    return ReadZigzagArchitecture(document, name);
  }
  const yaml::YamlValue root = document.AtAny({"arch", "architecture"});
  Architecture architecture;
  architecture.name = name;
  if (const auto given = root.Find("name")) architecture.name = given->Name();
  if (const auto nodes = root.Find("nodes")) {
    if (IsAccelforge(*nodes)) {
      return ReadAccelforgeArchitecture(*nodes, architecture.name, technology);
    }
    ReadNodes(document, *nodes, technology, architecture);
    ReadSparsity(document, architecture);
    yaml::WithPlace(root, [&] { CheckArchitecture(architecture); });
    return architecture;
  }
  ArchitectureReader reader(architecture, technology);
  if (root.Find("subtree")) {
    reader.ReadTree(root, 1);
    if (!reader.has_arithmetic()) {
      root.Fail("there is no arithmetic unit, of a class such as 'intmac'");
    }
  } else {
    reader.ReadLists(root);
  }
  if (const auto constraints = root.Find("constraints")) reader.ReadConstraints(*constraints);
  ReadSparsity(document, architecture);
  yaml::WithPlace(root, [&] { CheckArchitecture(architecture); });
  return architecture;
}

/// What an architecture is called that does not say so. Files may be called in any bytes.
std::string NameAfter(const std::string& file) {
  return base::SingleLine(std::filesystem::path(file).stem().string(), base::kMaxPathBytes);
}

}  // namespace

Architecture ReadArchitecture(const std::string& file, const Technology* technology,
                              const yaml::TemplateVariables& variables) {
  if (file.ends_with(".m")) {
    return ParseMaestroArchitecture(base::ReadFile(file, base::kMaxTextBytes), file, technology);
  }
  return ReadDocument(yaml::LoadTemplate(file, variables), NameAfter(file), technology);
}

Architecture ParseArchitectureYaml(const std::string& text, const std::string& file,
                                   const Technology* technology) {
  return ReadDocument(yaml::YamlValue::Parse(text, file), NameAfter(file), technology);
}

void AddSparseOptimizations(const std::string& file, Architecture& architecture,
                            const yaml::TemplateVariables& variables) {
  const yaml::YamlValue document = yaml::LoadTemplate(file, variables);
  ReadOptimizations(document.AtAny({"sparse_optimizations", "sparse-optimizations"}), architecture);
}

namespace {

std::vector<Directive> ConstraintsIn(const yaml::YamlValue& document) {
  std::vector<Directive> directives;
  for (const char* section : {"architecture_constraints", "mapspace_constraints",
                              "extra_mapping_constraints", "constraints", "mapspace"}) {
    const auto found = document.Find(section);
    if (!found) continue;
    const yaml::YamlValue list = found->IsMap() ? found->AtAny({"targets", "constraints"}) : *found;
    for (Directive& directive : ReadDirectives(list)) directives.push_back(std::move(directive));
  }
  if (directives.empty()) {
    document.Fail("no constraints; they stand under 'constraints' or 'mapspace_constraints'");
  }
  return directives;
}

}  // namespace

std::vector<Directive> ReadConstraints(const std::string& file,
                                       const yaml::TemplateVariables& variables) {
  return ConstraintsIn(yaml::LoadTemplate(file, variables));
}

std::vector<Directive> ParseConstraintsYaml(const std::string& text, const std::string& file) {
  return ConstraintsIn(yaml::YamlValue::Parse(text, file));
}

}  // namespace bayloom::mapspace
