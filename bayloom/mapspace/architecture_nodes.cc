// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/architecture_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bayloom/mapspace/directive_yaml.h"
#include "bayloom/mapspace/sparse/sparse_yaml.h"
#include "bayloom/mapspace/unit_cost.h"
#include "bayloom/space/evaluate_expression.h"

namespace bayloom::mapspace {
namespace {

using Names = std::map<std::string, space::Value>;

/// What holds inside of the nodes read so far.
struct Surroundings {
  Names values;  ///< variables and attributes of containers
  int64_t mesh_x = 1, mesh_y = 1;
};

/// The value of an attribute: a number, an expression that has one, or a text.
space::Value ValueOf(const yaml::YamlValue& field, const Names& names) {
  const std::string text = field.Text();
  double number = 0;
  if (!field.IsQuoted() && space::ParseNumber(text, number)) return number;
  const auto name = names.find(text);
  if (!field.IsQuoted() && name != names.end()) return name->second;
  const Result<double> computed =
      field.IsQuoted() ? Error{""} : space::EvaluateExpression(text, names);
  if (computed) return *computed;
  return text;
}

/// Adds what a map of attributes says, each of which may refer to those before it.
void AddValues(const yaml::YamlValue& map, Names& names) {
  for (const auto& [key, field] : map.Entries()) {
    if (field.IsScalar()) names[key] = ValueOf(field, names);
  }
}

/// The numbers of one node.
class NodeAttributes {
 public:
  NodeAttributes(const yaml::YamlValue& node, Names names)
      : node_(node), attributes_(node.Find("attributes")), names_(std::move(names)) {
    if (attributes_) AddValues(*attributes_, names_);
  }

  const Names& names() const { return names_; }

  /// Places of the node's own attributes that the model does not count.
  std::vector<std::string> WithoutEffect() const {
    if (!attributes_) return {};
    return PlacesOf(*attributes_, {"min-utilization"});
  }

  /// The number of an attribute of this node or of those around it.
  std::optional<double> Find(const UnitAttribute& attribute) const {
    for (std::string_view key : attribute.keys) {
      const auto found = names_.find(std::string(key));
      if (found == names_.end()) continue;
      const auto own = attributes_ ? attributes_->Find(key) : std::nullopt;
      return Number(own.value_or(node_), found->second, key, attribute.low, attribute.high);
    }
    return std::nullopt;
  }

  int64_t Whole(std::initializer_list<std::string_view> keys, int64_t otherwise,
                int64_t high) const {
    const auto found = Find({keys, 1, static_cast<double>(high)});
    if (!found) return otherwise;
    if (std::floor(*found) == *found) return static_cast<int64_t>(*found);
    node_.Fail(fmt::format("{} is {}, no whole number", *keys.begin(), *found));
  }

  /// Whether the node is there: its own `enabled`, or the attribute.
  bool IsEnabled() const {
    const auto own = node_.Find("enabled");
    double number = Find({{"enabled"}, 0, 1}).value_or(1);
    if (own && !space::ParseNumber(own->Text(), number)) own->Fail("expected true or false");
    return number != 0;
  }

  /// One axis of the node's mesh.
  int64_t Mesh(std::string_view axis) const {
    const auto spatial = node_.Find("spatial");
    const auto size = spatial ? spatial->Find(axis) : std::nullopt;
    if (!size) return 1;
    const double number = Number(*size, ValueOf(*size, names_), axis, 1, kMaxUnitInstances);
    if (std::floor(number) != number) size->Fail("expected a whole number");
    return static_cast<int64_t>(number);
  }

 private:
  static double Number(const yaml::YamlValue& place, const space::Value& value,
                       std::string_view key, double low, double high) {
    const double* number = std::get_if<double>(&value);
    if (number == nullptr) {
      place.Fail(fmt::format("{}: '{}' is no number, nor an expression of names that are known",
                             key, space::ToString(value)));
    }
    if (*number >= low && *number <= high) return *number;
    place.Fail(fmt::format("{} is {}; expected a number within [{}, {}]", key, *number, low, high));
  }

  yaml::YamlValue node_;
  std::optional<yaml::YamlValue> attributes_;
  Names names_;
};

class NodesReader {
 public:
  NodesReader(const Technology* technology, Architecture& architecture)
      : technology_(technology), architecture_(architecture) {}

  void Read(const yaml::YamlValue& document, const yaml::YamlValue& nodes) {
    CollectTensors(nodes);
    Surroundings around;
    if (const auto variables = document.Find("variables")) AddValues(*variables, around.values);
    ReadList(nodes, around, {});
    if (!has_arithmetic_) nodes.Fail("there is no arithmetic unit, of a class such as 'intmac'");
  }

 private:
  /// All tensors that constraints name.
  void CollectTensors(const yaml::YamlValue& nodes) {
    for (const yaml::YamlValue& node : nodes.Items()) {
      if (const auto inner = node.Find("nodes")) CollectTensors(*inner);
      for (const std::string& tensor : TensorsOf(node, {"keep", "keep_only", "bypass"})) {
        tensors_.insert(tensor);
      }
    }
  }

  static std::set<std::string> TensorsOf(const yaml::YamlValue& node,
                                         std::initializer_list<std::string_view> keys) {
    std::set<std::string> names;
    const auto constraints = node.Find("constraints");
    const auto dataspace = constraints ? constraints->Find("dataspace") : std::nullopt;
    if (!dataspace) return names;
    for (std::string_view key : keys) {
      const auto list = dataspace->Find(key);
      if (!list) continue;
      for (const std::string& name : list->Names()) names.insert(name);
    }
    return names;
  }

  /// `shared`: the tensors that the branches of the parallel node around have between them; empty
  /// outside of one.
  void ReadList(const yaml::YamlValue& nodes, Surroundings& around,
                const std::set<std::string>& shared) {
    for (const yaml::YamlValue& node : nodes.Items()) ReadNode(node, around, shared);
  }

  void ReadNode(const yaml::YamlValue& node, Surroundings& around,
                const std::set<std::string>& shared) {
    node.RefuseMisspelt({"name", "class", "subclass", "attributes", "spatial", "constraints",
                         "nodes", "sparse_optimizations", "required_actions", "enabled"});
    if (has_arithmetic_) node.Fail("stands inside of the multipliers, which have to be the last");
    if (const auto inner = node.Find("nodes")) {
      std::set<std::string> kept;
      for (const yaml::YamlValue& branch : inner->Items()) {
        kept.merge(TensorsOf(branch, {"keep", "keep_only"}));
      }
      return ReadList(*inner, around, kept);
    }
    const bool is_component = node.FindAny({"class", "subclass"}).has_value();
    if (is_component) return ReadComponent(node, around, shared);
    if (const auto sparse = node.Find("sparse_optimizations")) {
      sparse->Fail("belongs to a memory or the multipliers, not to a container");
    }
    if (node.Find("name")) ReadContainer(node, around);
  }

  void ReadContainer(const yaml::YamlValue& node, Surroundings& around) {
    const NodeAttributes attributes(node, around.values);
    const std::string name = node.At("name").Name();
    const int64_t x = attributes.Mesh("meshX"), y = attributes.Mesh("meshY");
    if (x * y > 1) {
      if (!mesh_.empty()) AddEmptyLevel(node, around);
      mesh_ = name;
      AddMesh(name);
    }
    around.values = attributes.names();
    ReadSpatial(node);
    Enlarge(node, x, y, around);
  }

  static void Enlarge(const yaml::YamlValue& node, int64_t x, int64_t y, Surroundings& around) {
    constexpr int64_t kMost = kMaxUnitInstances;
    if (x > kMost / around.mesh_x || y > kMost / around.mesh_y ||
        around.mesh_x * x > kMost / (around.mesh_y * y)) {
      node.Fail(fmt::format("there are more than {} instances", kMost));
    }
    around.mesh_x *= x;
    around.mesh_y *= y;
  }

  void AddMesh(const std::string& name) {
    if (architecture_.levels.empty()) return;
    architecture_.meshes.push_back({.name = name, .outside = architecture_.levels.front().name});
  }

  /// A level in place of a container whose mesh another follows.
  void AddEmptyLevel(const yaml::YamlValue& node, const Surroundings& around) {
    StorageLevel level;
    level.name = mesh_;
    level.words = 1;
    if (!architecture_.levels.empty()) level.word_bits = architecture_.levels[0].word_bits;
    Directive bypass{.kind = Directive::Kind::kBypass,
                     .target = mesh_,
                     .factors = {},
                     .permutation = "",
                     .keep = {},
                     .bypass = {},
                     .where = node.Where()};
    bypass.bypass.assign(tensors_.begin(), tensors_.end());
    if (!architecture_.meshes.empty()) architecture_.meshes.back().is_level = true;
    architecture_.constraints.push_back(std::move(bypass));
    AddLevel(node, std::move(level), around);
  }

  void AddLevel(const yaml::YamlValue& node, StorageLevel level, const Surroundings& around) {
    level.instances = around.mesh_x * around.mesh_y;
    level.mesh_x = around.mesh_x;
    architecture_.levels.insert(architecture_.levels.begin(), std::move(level));
    if (architecture_.levels.size() > kMaxLevels) {
      node.Fail(fmt::format("there are more than {} levels of memory", kMaxLevels));
    }
    mesh_.clear();
  }

  void ReadComponent(const yaml::YamlValue& node, Surroundings& around,
                     const std::set<std::string>& shared) {
    const NodeAttributes attributes(node, around.values);
    std::string kind;
    for (const char* key : {"class", "subclass"}) {
      const auto name = node.Find(key);
      if (!name) continue;
      RefuseMisspeltClass(*name);
      kind += name->Text() + " ";
    }
    if (IsNetworkClass(kind)) return;
    const std::string name = node.At("name").Name();
    const int64_t x = attributes.Mesh("meshX"), y = attributes.Mesh("meshY");
    if (x * y > 1 && !mesh_.empty()) AddEmptyLevel(node, around);
    if (x * y > 1) AddMesh(name);
    ReadSpatial(node);
    Enlarge(node, x, y, around);
    if (!attributes.IsEnabled()) return;
    const auto sparse = node.Find("sparse_optimizations");
    if (IsArithmeticClass(kind)) {
      ReadArithmetic(name, attributes, around);
      if (sparse) ReadComputeOptimizations(*sparse, architecture_.arithmetic.sparsity);
      return;
    }
    const bool is_dram = kind.find("DRAM") != std::string::npos;
    AddLevel(node, ReadStorage(node, name, is_dram, attributes), around);
    std::ranges::move(attributes.WithoutEffect(), std::back_inserter(architecture_.without_effect));
    if (sparse) ReadLevelOptimizations(*sparse, architecture_.levels.front().sparsity);
    ReadKeeps(node, name, shared);
    ReadTemporal(node, name);
  }

  void ReadArithmetic(const std::string& name, const NodeAttributes& attributes,
                      const Surroundings& around) {
    Arithmetic& macs = architecture_.arithmetic;
    macs.name = name;
    macs.word_bits =
        static_cast<int>(attributes.Whole({"multiplier_width", "datawidth"}, 16, kMaxUnitBits));
    macs.instances = around.mesh_x * around.mesh_y;
    macs.mesh_x = around.mesh_x;
    ReadArithmeticEnergies(
        macs, [&](const UnitAttribute& each) { return attributes.Find(each); }, technology_);
    has_arithmetic_ = true;
  }

  StorageLevel ReadStorage(const yaml::YamlValue& node, const std::string& name, bool is_dram,
                           const NodeAttributes& attributes) const {
    StorageLevel level;
    level.name = name;
    level.word_bits = static_cast<int>(attributes.Whole({"datawidth"}, 16, kMaxUnitBits));
    const int64_t cluster = attributes.Whole({"cluster_size"}, 1, kMaxBlockWords);
    const int64_t width = attributes.Whole({"width"}, level.word_bits * cluster, kMaxBlockWords);
    if (width % (level.word_bits * cluster) != 0) {
      node.Fail(fmt::format("width {} is no multiple of {} words of {} bits", width, cluster,
                            level.word_bits));
    }
    level.block_words =
        attributes.Whole({"block_size"}, width / (level.word_bits * cluster), kMaxBlockWords);
    const int64_t depth = attributes.Whole({"depth"}, 0, int64_t{1} << 40);
    if (depth == 0 && !is_dram) node.Fail("memory '" + name + "' needs its 'depth'");
    level.words = depth * level.block_words;
    const auto find = [&](const UnitAttribute& attribute) { return attributes.Find(attribute); };
    DivideIntoBuffers(level, find);
    ReadStorageAttributes(level, find, cluster, is_dram, technology_);
    return level;
  }

  /// A part of a node's constraints, if it has it, with these keys only.
  static std::optional<yaml::YamlValue> Constraints(const yaml::YamlValue& node,
                                                    std::string_view part,
                                                    std::initializer_list<std::string_view> keys) {
    const auto all = node.Find("constraints");
    if (all) all->AllowOnly({"dataspace", "temporal", "spatial"});
    const auto found = all ? all->Find(part) : std::nullopt;
    if (found) found->AllowOnly(keys);
    return found;
  }

  /// On the loops over a node's mesh, which the level around it runs.
  void ReadSpatial(const yaml::YamlValue& node) {
    const auto spatial =
        Constraints(node, "spatial", {"factors", "permutation", "split", "no_link_transfer"});
    if (!spatial) return;
    if (architecture_.levels.empty()) spatial->Fail("there is no memory outside of this mesh");
    architecture_.constraints.push_back(
        ReadDirective(*spatial, Directive::Kind::kSpatial, architecture_.levels.front().name));
  }

  void ReadTemporal(const yaml::YamlValue& node, const std::string& name) {
    const auto temporal =
        Constraints(node, "temporal", {"factors", "permutation", "rmw_first_update"});
    if (!temporal) return;
    architecture_.constraints.push_back(ReadDirective(*temporal, Directive::Kind::kTemporal, name));
  }

  void ReadKeeps(const yaml::YamlValue& node, const std::string& name,
                 const std::set<std::string>& shared) {
    const auto dataspace = Constraints(node, "dataspace", {"keep", "keep_only", "bypass"});
    if (!dataspace) return;
    const std::set<std::string> kept = TensorsOf(node, {"keep", "keep_only"});
    std::set<std::string> bypassed = TensorsOf(node, {"bypass"});
    const std::set<std::string>& others = dataspace->Find("keep_only") ? tensors_ : shared;
    for (const std::string& tensor : others) {
      if (!kept.contains(tensor)) bypassed.insert(tensor);
    }
    Directive directive{.kind = Directive::Kind::kBypass,
                        .target = name,
                        .factors = {},
                        .permutation = "",
                        .keep = {},
                        .bypass = {},
                        .where = node.Where()};
    directive.keep.assign(kept.begin(), kept.end());
    directive.bypass.assign(bypassed.begin(), bypassed.end());
    architecture_.constraints.push_back(std::move(directive));
  }

  const Technology* technology_;
  Architecture& architecture_;
  std::set<std::string> tensors_;
  std::string mesh_;  ///< a container with a mesh since the last level
  bool has_arithmetic_ = false;
};

}  // namespace

void ReadNodes(const yaml::YamlValue& document, const yaml::YamlValue& nodes,
               const Technology* technology, Architecture& architecture) {
  NodesReader(technology, architecture).Read(document, nodes);
}

}  // namespace bayloom::mapspace
