// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bayloom/mapspace/formats/zigzag.h"
#include "bayloom/mapspace/unit_cost.h"

namespace bayloom::mapspace {
namespace {

constexpr int kZigzagWordBits = 8;
constexpr int64_t kMaxMemoryBits = int64_t{1} << 52;
constexpr int64_t kMaxPortBits = int64_t{1} << 32;

/// The dimensions of the array.
struct ZigzagArray {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;

  /// Positions along those that are not served.
  int64_t InstancesOf(const std::set<std::string>& served) const {
    int64_t instances = 1;
    for (size_t d = 0; d < names.size(); ++d) {
      if (!served.contains(names[d])) instances *= sizes[d];
    }
    return instances;
  }
  int64_t MeshOf(const std::set<std::string>& served) const {
    return served.contains(names.front()) ? 1 : sizes.front();
  }
};

/// Bits a cycle over the ports that read, that write, and that do both; the width of all.
struct ZigzagPorts {
  int64_t least = 0;
  int64_t read_width = 0, write_width = 0;
  double read = 0, write = 0, both = 0;
};

struct ZigzagMemory {
  yaml::YamlValue place;
  StorageLevel level;
  std::set<std::string> served;
  std::set<std::string> tensors;
};

class ZigzagArchitectureReader {
 public:
  explicit ZigzagArchitectureReader(const yaml::YamlValue& document) : document_(document) {}

  Architecture Read(const std::string& name) {
    document_.AllowOnly({"name", "memories", "operational_array", "dataflows"});
    if (const auto dataflows = document_.Find("dataflows")) {
      dataflows->Fail("are not read here; give them as spatial constraints");
    }
    architecture_.name = name;
    if (const auto given = document_.Find("name")) architecture_.name = given->Name();
    ReadArray(document_.At("operational_array"));
    for (const auto& [key, memory] : document_.At("memories").Entries()) {
      memories_.push_back(ReadMemory(key, memory));
    }
    Order();
    for (ZigzagMemory& memory : memories_) Add(std::move(memory));
    yaml::WithPlace(document_, [&] { CheckArchitecture(architecture_); });
    return std::move(architecture_);
  }

 private:
  void ReadArray(const yaml::YamlValue& array) {
    if (const auto imc = array.Find("is_imc"); imc && imc->Bool()) {
      imc->Fail("arrays that compute in memory are not modelled");
    }
    if (const auto kind = array.Find("imc_type")) {
      kind->Fail("arrays that compute in memory are not modelled");
    }
    array_.names = array.At("dimensions").Names();
    const std::vector<yaml::YamlValue> sizes = array.At("sizes").Items();
    if (array_.names.empty() || array_.names.size() != sizes.size()) {
      array.Fail("expected as many 'sizes' as 'dimensions'");
    }
    Arithmetic& macs = architecture_.arithmetic;
    for (const yaml::YamlValue& size : sizes) {
      array_.sizes.push_back(size.IntWithin(1, kMaxUnitInstances));
      if (macs.instances > kMaxUnitInstances / array_.sizes.back()) {
        size.Fail(fmt::format("there are more than {} instances", kMaxUnitInstances));
      }
      macs.instances *= array_.sizes.back();
    }
    macs.mesh_x = array_.sizes.front();
    macs.word_bits = kZigzagWordBits;
    if (const auto precision = array.Find("input_precision")) {
      for (const yaml::YamlValue& bits : precision->Items()) {
        macs.word_bits =
            std::max(macs.word_bits, static_cast<int>(bits.IntWithin(1, kMaxUnitBits)));
      }
    }
    macs.mac_energy_pj = array.At("unit_energy").RealWithin(0, kMaxUnitEnergyPj);
  }

  ZigzagMemory ReadMemory(const std::string& name, const yaml::YamlValue& memory) const {
    memory.RefuseMisspelt({"size", "r_cost", "w_cost", "area", "latency", "mem_type",
                           "auto_cost_extraction", "operands", "ports", "served_dimensions",
                           "force_double_buffering"});
    if (const auto cacti = memory.Find("auto_cost_extraction"); cacti && cacti->Bool()) {
      cacti->Fail("costs that CACTI computes are not known here; give r_cost and w_cost");
    }
    ZigzagMemory read{.place = memory, .level = {}, .served = {}, .tensors = {}};
    for (const yaml::YamlValue& item : memory.At("served_dimensions").Items()) {
      const std::string dimension = item.Name();
      if (std::ranges::find(array_.names, dimension) == array_.names.end()) {
        item.Fail(fmt::format("the array has no dimension '{}'", dimension));
      }
      read.served.insert(dimension);
    }
    for (const yaml::YamlValue& operand : memory.At("operands").Items()) {
      read.tensors.insert(TensorOf(operand));
    }
    StorageLevel& level = read.level;
    level.name = name;
    level.word_bits = kZigzagWordBits;
    level.instances = array_.InstancesOf(read.served);
    level.mesh_x = array_.MeshOf(read.served);
    const yaml::YamlValue size = memory.At("size");
    level.words = Bytes(size, size.IntWithin(1, kMaxMemoryBits));
    const auto is_doubled = memory.Find("force_double_buffering");
    if (is_doubled && is_doubled->Bool()) level.words = std::max<int64_t>(1, level.words / 2);
    ReadPorts(memory, level);
    return read;
  }

  static std::string TensorOf(const yaml::YamlValue& operand) {
    const std::string name = operand.Name();
    if (name == "I1") return "Inputs";
    if (name == "I2") return "Weights";
    if (name == "O") return "Outputs";
    operand.Fail(fmt::format("'{}' is not one of I1, I2 and O", name));
  }

  static int64_t Bytes(const yaml::YamlValue& place, int64_t bits) {
    if (bits % kZigzagWordBits != 0) place.Fail("is no multiple of words of 8 bits");
    return bits / kZigzagWordBits;
  }

  static void ReadPorts(const yaml::YamlValue& memory, StorageLevel& level) {
    const yaml::YamlValue list = memory.At("ports");
    ZigzagPorts ports;
    for (const yaml::YamlValue& port : list.Items()) ReadPort(port, ports);
    if (ports.read_width == 0 || ports.write_width == 0) {
      list.Fail("expected a port that reads and one that writes");
    }
    level.block_words = Bytes(list, ports.least);
    const auto energy = [&](std::string_view key, int64_t width) {
      return memory.At(key).RealWithin(0, kMaxUnitEnergyPj) * static_cast<double>(ports.least) /
             static_cast<double>(width);
    };
    level.access_energy_pj = energy("r_cost", ports.read_width);
    level.write_energy_pj = energy("w_cost", ports.write_width);
    level.read_bandwidth = (ports.read + ports.both) / kZigzagWordBits;
    level.write_bandwidth = (ports.write + ports.both) / kZigzagWordBits;
    if (ports.both > 0) {
      level.shared_bandwidth = (ports.read + ports.write + ports.both) / kZigzagWordBits;
    }
  }

  static void ReadPort(const yaml::YamlValue& port, ZigzagPorts& ports) {
    const int64_t least = port.At("bandwidth_min").IntWithin(1, kMaxPortBits);
    const int64_t width = port.At("bandwidth_max").IntWithin(least, kMaxPortBits);
    const yaml::YamlValue type = port.At("type");
    const std::string kind = type.Text();
    const bool reads = kind != "write", writes = kind != "read";
    if (kind != "read" && kind != "write" && kind != "read_write") {
      type.Fail(fmt::format("'{}' is not one of read, write and read_write", kind));
    }
    const auto agrees = [](int64_t& known, int64_t value) {
      if (known == 0) known = value;
      return known == value;
    };
    if (!agrees(ports.least, least) || (reads && !agrees(ports.read_width, width)) ||
        (writes && !agrees(ports.write_width, width))) {
      port.Fail("is not as wide as another of the same memory, so that accesses cost differently");
    }
    (reads && writes ? ports.both : reads ? ports.read : ports.write) += static_cast<double>(width);
  }

  /// Innermost first: those that serve fewer dimensions stand within those that serve more.
  void Order() {
    std::ranges::stable_sort(memories_, {},
                             [](const ZigzagMemory& memory) { return memory.served.size(); });
    for (size_t m = 1; m < memories_.size(); ++m) {
      const ZigzagMemory &inner = memories_[m - 1], &outer = memories_[m];
      if (std::ranges::includes(outer.served, inner.served)) continue;
      outer.place.Fail(fmt::format(
          "serves {}, and '{}' {}: neither stands within the other, which levels here have to",
          fmt::join(outer.served, ", "), inner.level.name, fmt::join(inner.served, ", ")));
    }
    if (memories_.empty() || memories_.back().tensors.size() < 3) {
      document_.At("memories").Fail("expected an outermost memory of I1, I2 and O");
    }
  }

  void Add(ZigzagMemory memory) {
    Directive directive{.kind = Directive::Kind::kBypass,
                        .target = memory.level.name,
                        .factors = {},
                        .permutation = "",
                        .keep = {},
                        .bypass = {},
                        .where = memory.place.Where()};
    for (const char* tensor : {"Inputs", "Outputs", "Weights"}) {
      (memory.tensors.contains(tensor) ? directive.keep : directive.bypass).emplace_back(tensor);
    }
    architecture_.constraints.push_back(std::move(directive));
    architecture_.levels.push_back(std::move(memory.level));
  }

  const yaml::YamlValue& document_;
  ZigzagArray array_;
  std::vector<ZigzagMemory> memories_;
  Architecture architecture_;
};

}  // namespace

Architecture ReadZigzagArchitecture(const yaml::YamlValue& document, const std::string& name) {
  return ZigzagArchitectureReader(document).Read(name);
}

}  // namespace bayloom::mapspace
