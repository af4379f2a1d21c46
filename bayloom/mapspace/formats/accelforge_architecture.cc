// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "bayloom/mapspace/formats/accelforge.h"
#include "bayloom/mapspace/formats/tensor_sets.h"
#include "bayloom/mapspace/unit_cost.h"
#include "bayloom/space/evaluate_expression.h"

namespace bayloom::mapspace {
namespace {

constexpr int kBitsPerValue = 8;
constexpr double kPjPerJoule = 1e12;
constexpr int64_t kMostWords = int64_t{1} << 50;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::string WithoutSpaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// A number, or an expression of numbers; the names are those of an operation's tensors.
double NumberOf(const yaml::YamlValue& place, std::string text) {
  if (text == "inf" || text == ".inf") return kInfinite;
  // "weight.bits_per_value if weight else 1": operations have all three.
  for (const char* tensor : {"input", "weight", "output"}) {
    const std::string name = tensor;
    const std::string rest = " if " + name + " else ";
    if (const size_t at = text.find(rest); at != std::string::npos) text.resize(at);
    const std::string bits = name + ".bits_per_value";
    for (size_t at = text.find(bits); at != std::string::npos; at = text.find(bits)) {
      text.replace(at, bits.size(), std::to_string(kBitsPerValue));
    }
  }
  const std::map<std::string, space::Value> names;
  const Result<double> number = space::EvaluateExpression(text, names);
  if (!number) place.Fail(fmt::format("'{}' is no expression that is read here", text));
  return *number;
}

double NumberOf(const yaml::YamlValue& value) { return NumberOf(value, value.Text()); }

int64_t WholeWithin(const yaml::YamlValue& value, int64_t low, int64_t high) {
  const double number = NumberOf(value);
  const bool is_within = number >= static_cast<double>(low) && number <= static_cast<double>(high);
  if (!is_within || std::floor(number) != number) {
    value.Fail(fmt::format("expected a whole number within [{}, {}]", low, high));
  }
  return static_cast<int64_t>(number);
}

/// What one kind of access costs and how many there are a second.
struct Action {
  double energy_pj = 0;  ///< of a bit
  bool has_energy = false;
  double bits = 1;  ///< of an action
  double bits_per_second = kInfinite;
};

class AccelforgeReader {
 public:
  AccelforgeReader(const Technology* technology, Architecture& architecture)
      : technology_(technology), architecture_(architecture) {}

  void Read(const yaml::YamlValue& nodes) {
    const std::vector<yaml::YamlValue> items = nodes.Items();
    for (const yaml::YamlValue& node : items) {
      if (IsThere(node) && IsCompute(node)) ReadClock(node);
    }
    for (const yaml::YamlValue& node : items) {
      if (IsThere(node)) ReadNode(node);
    }
    if (!has_compute_) nodes.Fail("there is no multiplier for operations of three tensors");
  }

 private:
  static bool IsCompute(const yaml::YamlValue& node) {
    if (node.Find("size")) return false;
    const auto actions = node.Find("actions");
    if (!actions) return node.Find("component_class").has_value();
    return std::ranges::any_of(actions->Items(), [](const yaml::YamlValue& action) {
      return action.At("name").Text() == "compute";
    });
  }

  /// `enabled: len(All) == 3`: operations have three tensors.
  static bool IsThere(const yaml::YamlValue& node) {
    const auto enabled = node.Find("enabled");
    if (!enabled) return true;
    std::string text = enabled->Text();
    if (text == "true" || text == "True") return true;
    if (text == "false" || text == "False") return false;
    const std::string count = "len(All)";
    if (const size_t at = text.find(count); at != std::string::npos) {
      text.replace(at, count.size(), "3");
    }
    return NumberOf(*enabled, text) != 0;
  }

  void ReadNode(const yaml::YamlValue& node) {
    node.AllowOnly({"name", "component_class", "size", "leak_power", "area", "total_latency",
                    "latency", "tensors", "actions", "spatial", "enabled", "bits_per_value",
                    "extra_attributes_for_component_model", "bits_per_action", "total_area",
                    "total_leak_power", "area_scale", "energy_scale", "n_parallel_instances"});
    for (const char* key : {"area_scale", "energy_scale", "n_parallel_instances"}) {
      if (const auto found = node.Find(key)) found->Fail("is not read here");
    }
    if (const auto leak = node.Find("leak_power")) {
      if (NumberOf(*leak) != 0) NoEffect(*leak, "leak_power");
    }
    if (has_compute_) node.Fail("stands inside of the multipliers, which have to be the last");
    ReadSpatial(node);
    if (node.Find("size")) {
      AddMemory(node);
    } else if (IsCompute(node)) {
      AddCompute(node);
    } else if (node.Find("actions") || node.Find("tensors")) {
      node.Fail("only memories, containers and multipliers are read");
    }
  }

  void NoEffect(const yaml::YamlValue& place, std::string_view key) {
    architecture_.without_effect.push_back(fmt::format("{}'{}'", place.Where(), key));
  }

  void ReadSpatial(const yaml::YamlValue& node) {
    const auto spatial = node.Find("spatial");
    if (!spatial) return;
    int64_t x = 1, y = 1;
    bool is_first = true;
    for (const yaml::YamlValue& dimension : spatial->Items()) {
      dimension.AllowOnly({"name", "fanout", "reuse", "may_reuse", "min_usage", "usage_scale",
                           "power_gateable", "loop_bounds"});
      for (const char* key : {"reuse", "may_reuse", "min_usage", "loop_bounds"}) {
        if (const auto found = dimension.Find(key)) NoEffect(*found, key);
      }
      const int64_t fanout = WholeWithin(dimension.At("fanout"), 1, kMaxUnitInstances);
      int64_t& side = std::exchange(is_first, false) ? x : y;
      if (side > kMaxUnitInstances / fanout) Large(dimension);
      side *= fanout;
    }
    if (mesh_x_ > kMaxUnitInstances / x || mesh_y_ > kMaxUnitInstances / y ||
        mesh_x_ * x > kMaxUnitInstances / (mesh_y_ * y)) {
      Large(*spatial);
    }
    if (!architecture_.levels.empty()) {
      architecture_.meshes.push_back(
          {.name = node.At("name").Name(), .outside = architecture_.levels.front().name});
    }
    mesh_x_ *= x;
    mesh_y_ *= y;
  }

  [[noreturn]] static void Large(const yaml::YamlValue& place) {
    place.Fail(fmt::format("there are more than {} instances", kMaxUnitInstances));
  }

  /// The action of this name; a node need not have it.
  static Action ActionOf(const yaml::YamlValue& node, std::string_view name) {
    Action read;
    const auto actions = node.Find("actions");
    if (!actions) return read;
    for (const yaml::YamlValue& action : actions->Items()) {
      if (action.At("name").Text() != name) continue;
      action.AllowOnly({"name", "energy", "throughput", "bits_per_action", "latency"});
      if (const auto bits = action.Find("bits_per_action")) read.bits = NumberOf(*bits);
      if (!(read.bits >= 1) || read.bits > kMaxBlockWords) action.Fail("bits_per_action is wrong");
      if (const auto energy = action.Find("energy")) {
        read.has_energy = true;
        read.energy_pj = NumberOf(*energy) * kPjPerJoule / read.bits;
        if (!(read.energy_pj >= 0) || read.energy_pj > kMaxUnitEnergyPj) {
          energy->Fail("expected joules, of at most 1 a bit");
        }
      }
      if (const auto rate = action.Find("throughput")) {
        read.bits_per_second = NumberOf(*rate) * read.bits;
        if (!(read.bits_per_second > 0)) rate->Fail("expected a positive number");
      }
    }
    return read;
  }

  /// Actions a second where the latency is "sum(a.n_calls for a in actions) / 32 / 200e6".
  static std::optional<double> SummedRate(const yaml::YamlValue& latency) {
    const std::string text = WithoutSpaces(latency.Text());
    const std::string sum = "sum(a.n_callsforainactions)";
    if (!text.starts_with(sum)) return std::nullopt;
    return 1 / NumberOf(latency, "1" + text.substr(sum.size()));
  }

  void ReadClock(const yaml::YamlValue& node) {
    if (clock_ > 0) node.Fail("is a second kind of multiplier");
    const auto latency = node.Find("total_latency");
    const std::optional<double> summed = latency ? SummedRate(*latency) : std::nullopt;
    if (latency && !summed) latency->Fail("expected 'sum(a.n_calls for a in actions) / RATE'");
    const Action compute = ActionOf(node, "compute");
    clock_ = summed ? *summed : compute.bits_per_second / compute.bits;
    // Without a rate, others are of seconds as well.
    if (std::isinf(clock_)) clock_ = 1;
  }

  void AddCompute(const yaml::YamlValue& node) {
    Arithmetic& macs = architecture_.arithmetic;
    macs.name = node.At("name").Name();
    macs.word_bits = kBitsPerValue;
    macs.instances = mesh_x_ * mesh_y_;
    macs.mesh_x = mesh_x_;
    const Action compute = ActionOf(node, "compute");
    macs.mac_energy_pj = compute.has_energy ? compute.energy_pj * compute.bits
                                            : MacEnergyOf(kBitsPerValue, technology_);
    has_compute_ = true;
  }

  void AddMemory(const yaml::YamlValue& node) {
    StorageLevel level;
    level.name = node.At("name").Name();
    const TensorSet kept = ReadTensors(node, level.name);
    level.word_bits = WordBits(node, kept);
    const yaml::YamlValue size = node.At("size");
    const double bits = NumberOf(size);
    if (std::isfinite(bits)) {
      const double words = std::floor(bits / level.word_bits);
      if (!(words >= 1) || words > static_cast<double>(kMostWords)) {
        size.Fail(fmt::format("has to hold 1 to {} words of {} bits", kMostWords, level.word_bits));
      }
      level.words = static_cast<int64_t>(words);
    }
    level.instances = mesh_x_ * mesh_y_;
    level.mesh_x = mesh_x_;
    ReadAccesses(node, level);
    architecture_.levels.insert(architecture_.levels.begin(), std::move(level));
    if (architecture_.levels.size() > kMaxLevels) {
      node.Fail(fmt::format("there are more than {} levels of memory", kMaxLevels));
    }
  }

  /// Which tensors a memory must and must not keep.
  TensorSet ReadTensors(const yaml::YamlValue& node, const std::string& name) {
    TensorSet keep = kNoTensor, may = kNoTensor;
    if (const auto tensors = node.Find("tensors")) {
      tensors->AllowOnly({"keep", "may_keep", "back", "tensor_order_options",
                          "no_refetch_from_above", "force_memory_hierarchy_order"});
      if (const auto set = tensors->Find("keep")) keep = ParseTensorSet(*set, memories_);
      if (const auto set = tensors->Find("may_keep")) may = ParseTensorSet(*set, memories_);
    } else {
      may = kAllTensors;
    }
    may |= keep;
    memories_[name] = keep;
    Directive directive{.kind = Directive::Kind::kBypass,
                        .target = name,
                        .factors = {},
                        .permutation = "",
                        .keep = {},
                        .bypass = {},
                        .where = node.Where()};
    for (const auto& [tensor, bit] : kTensorBits) {
      if ((keep & bit) != 0) directive.keep.emplace_back(tensor);
      if ((may & bit) == 0) directive.bypass.emplace_back(tensor);
    }
    if (!directive.keep.empty() || !directive.bypass.empty()) {
      architecture_.constraints.push_back(std::move(directive));
    }
    return may;
  }

  static int WordBits(const yaml::YamlValue& node, TensorSet kept) {
    const auto given = node.Find("bits_per_value");
    if (!given) return kBitsPerValue;
    int64_t bits = 0;
    for (const auto& [set, value] : given->Entries()) {
      const TensorSet of = RoleNamed(set);
      if (of == kNoTensor) value.Fail("is of none of input, weight, output and All");
      if ((of & kept) != kept) {
        value.Fail(
            "gives some of the memory's tensors words of another width, which levels here "
            "do not have");
      }
      bits = WholeWithin(value, 1, kMaxUnitBits);
    }
    return bits == 0 ? kBitsPerValue : static_cast<int>(bits);
  }

  void ReadAccesses(const yaml::YamlValue& node, StorageLevel& level) const {
    const Action read = ActionOf(node, "read"), write = ActionOf(node, "write");
    const auto words = static_cast<double>(level.word_bits);
    const auto kind = node.Find("component_class");
    const std::string type = kind ? kind->Text() : "";
    const bool is_dram = level.words == 0;
    if (read.has_energy) {
      level.access_energy_pj = read.energy_pj * words;
    } else if (type != "Dummy") {
      level.access_energy_pj = AccessEnergyOf(level, 1, is_dram, technology_);
    }
    if (write.has_energy && write.energy_pj != read.energy_pj) {
      level.write_energy_pj = write.energy_pj * words;
    }
    ReadRates(node, read, write, level);
  }

  void ReadRates(const yaml::YamlValue& node, const Action& read, const Action& write,
                 StorageLevel& level) const {
    const double word_rate = 1 / (static_cast<double>(level.word_bits) * clock_);
    const auto latency = node.Find("total_latency");
    const std::string text = latency ? WithoutSpaces(latency->Text()) : "";
    if (text == "max(a.n_calls/a.throughputforainactions)") {
      level.read_bandwidth = read.bits_per_second * word_rate;
      level.write_bandwidth = write.bits_per_second * word_rate;
    } else if (latency && text != "sum(a.n_calls/a.throughputforainactions)") {
      const std::optional<double> actions = SummedRate(*latency);
      if (!actions) {
        latency->Fail(
            "expected the sum, or the maximum, of a.n_calls / a.throughput for a in "
            "actions, or 'sum(a.n_calls for a in actions) / RATE'");
      }
      if (read.bits != write.bits) latency->Fail("reads and writes are not equally wide");
      level.shared_bandwidth = *actions * read.bits * word_rate;
    } else if (read.bits_per_second == write.bits_per_second) {
      level.shared_bandwidth = read.bits_per_second * word_rate;
    } else {
      node.Fail("reads and writes wait for each other, at different rates");
    }
  }

  const Technology* technology_;
  Architecture& architecture_;
  std::map<std::string, TensorSet> memories_;  ///< what each keeps
  int64_t mesh_x_ = 1, mesh_y_ = 1;
  double clock_ = 0;  ///< multiply-accumulates a second of one multiplier
  bool has_compute_ = false;
};

}  // namespace

bool IsAccelforge(const yaml::YamlValue& nodes) {
  return std::ranges::any_of(nodes.Items(), [](const yaml::YamlValue& node) {
    return node.IsMap() &&
           (node.Find("tensors") || node.Find("actions") || node.Find("component_class"));
  });
}

Architecture ReadAccelforgeArchitecture(const yaml::YamlValue& nodes, const std::string& name,
                                        const Technology* technology) {
  Architecture architecture;
  architecture.name = name;
  AccelforgeReader(technology, architecture).Read(nodes);
  yaml::WithPlace(nodes, [&] { CheckArchitecture(architecture); });
  return architecture;
}

}  // namespace bayloom::mapspace
