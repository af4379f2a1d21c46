// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/technology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/shipped_file.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {

// The files of technologies/, embedded by the build.
extern const char k45nmTechnology[];
extern const char k7nmTechnology[];

namespace {

struct ShippedTable {
  const char* name;
  const char* text;
};

constexpr ShippedTable kShippedTables[] = {{"45nm", k45nmTechnology}, {"7nm", k7nmTechnology}};

constexpr double kMaxCost = 1e12;
constexpr double kMaxBits = 1e15;

/// The power law through two points, at x.
double PowerLaw(double x0, double y0, double x1, double y1, double x) {
  return y0 * std::pow(x / x0, std::log(y1 / y0) / std::log(x1 / x0));
}

/// A quantity of a table at x: the power law through the two points around it, or at its end.
template <typename Point>
double Interpolate(const std::vector<Point>& points, double Point::*at, double Point::*what,
                   double x) {
  size_t i = 1;
  while (i + 1 < points.size() && points[i].*at < x) ++i;
  const Point& low = points[i - 1];
  const Point& high = points[i];
  return PowerLaw(low.*at, low.*what, high.*at, high.*what, x);
}

double Positive(const yaml::YamlValue& map, std::string_view key, double limit) {
  const yaml::YamlValue field = map.At(key);
  const double number = field.RealWithin(0, limit);
  if (!(number > 0)) field.Fail("expected a number above 0");
  return number;
}

/// The entries of a list, each read, ascending in their first member.
template <typename Point, typename Read>
std::vector<Point> ReadPoints(const yaml::YamlValue& list, double Point::*at, const Read& read) {
  std::vector<Point> points;
  for (const yaml::YamlValue& item : list.Items()) {
    points.push_back(read(item));
    if (points.size() > 1 && !(points[points.size() - 2].*at < points.back().*at)) {
      item.Fail("entries must ascend");
    }
  }
  if (points.size() < 2) list.Fail("expected at least two entries, to interpolate between");
  return points;
}

std::vector<Technology::Unit> ReadUnits(const yaml::YamlValue& list) {
  return ReadPoints(list, &Technology::Unit::bits, [](const yaml::YamlValue& item) {
    item.AllowOnly({"bits", "energy", "area"});
    return Technology::Unit{Positive(item, "bits", kMaxBits), Positive(item, "energy", kMaxCost),
                            Positive(item, "area", kMaxCost)};
  });
}

Technology::Sram ReadSram(const yaml::YamlValue& map) {
  map.AllowOnly({"access_bits", "access", "cell_area", "bank_bytes", "bank_efficiency"});
  Technology::Sram sram;
  sram.access_bits = Positive(map, "access_bits", kMaxBits);
  sram.access =
      ReadPoints(map.At("access"), &Technology::Access::bytes, [](const yaml::YamlValue& item) {
        item.AllowOnly({"bytes", "energy"});
        return Technology::Access{Positive(item, "bytes", kMaxBits),
                                  Positive(item, "energy", kMaxCost)};
      });
  sram.cell_area_um2 = Positive(map, "cell_area", kMaxCost);
  sram.bank_bytes = Positive(map, "bank_bytes", kMaxBits);
  sram.bank_efficiency = Positive(map, "bank_efficiency", 1);
  return sram;
}

}  // namespace

double Technology::MacEnergyPj(int word_bits) const {
  return Interpolate(multiplier, &Unit::bits, &Unit::energy_pj, word_bits) +
         Interpolate(adder, &Unit::bits, &Unit::energy_pj, 2.0 * word_bits);
}

double Technology::MacAreaUm2(int word_bits) const {
  return Interpolate(multiplier, &Unit::bits, &Unit::area_um2, word_bits) +
         Interpolate(adder, &Unit::bits, &Unit::area_um2, 2.0 * word_bits);
}

double Technology::MemoryEnergyPj(double capacity_bits, double access_bits) const {
  const double bytes = capacity_bits / 8;
  const Access& least = sram.access.front();
  const double access = bytes < least.bytes
                            ? least.energy_pj * std::sqrt(bytes / least.bytes)
                            : Interpolate(sram.access, &Access::bytes, &Access::energy_pj, bytes);
  return access_bits * std::max(register_energy_pj, access / sram.access_bits);
}

double Technology::MemoryAreaUm2(double capacity_bits) const {
  const double bank_bits = 8 * sram.bank_bytes;
  const double side = std::sqrt(bank_bits * sram.cell_area_um2);
  const double strip = side * (1 / std::sqrt(sram.bank_efficiency) - 1);
  const double banks = std::max(1.0, capacity_bits / bank_bits);
  const double bank_side = std::sqrt(capacity_bits / banks * sram.cell_area_um2) + strip;
  return std::min(capacity_bits * register_area_um2, banks * bank_side * bank_side);
}

double AreaOf(const Architecture& architecture, const Technology& technology) {
  const Arithmetic& macs = architecture.arithmetic;
  double um2 = static_cast<double>(macs.instances) * technology.MacAreaUm2(macs.word_bits);
  for (const StorageLevel& level : architecture.levels) {
    const double bits = static_cast<double>(level.words) * level.word_bits;
    um2 += static_cast<double>(level.instances) * technology.MemoryAreaUm2(bits);
  }
  return um2 / 1e6;
}

Technology ParseTechnology(const std::string& text, const std::string& file) {
  const yaml::YamlValue table = yaml::YamlValue::Parse(text, file).At("technology");
  table.AllowOnly({"name", "multiplier", "adder", "sram", "register", "dram"});
  Technology technology;
  technology.name = table.At("name").Name();
  technology.multiplier = ReadUnits(table.At("multiplier"));
  technology.adder = ReadUnits(table.At("adder"));
  technology.sram = ReadSram(table.At("sram"));
  const yaml::YamlValue registers = table.At("register");
  registers.AllowOnly({"energy", "area"});
  technology.register_energy_pj = Positive(registers, "energy", kMaxCost);
  technology.register_area_um2 = Positive(registers, "area", kMaxCost);
  const yaml::YamlValue dram = table.At("dram");
  dram.AllowOnly({"energy_per_bit"});
  technology.dram_energy_per_bit_pj = Positive(dram, "energy_per_bit", kMaxCost);
  return technology;
}

std::string PrintTechnology(const Technology& technology) {
  std::string text = fmt::format("technology:\n  name: {}\n", technology.name);
  const auto add_units = [&](const char* name, const std::vector<Technology::Unit>& units) {
    text += fmt::format("  {}:\n", name);
    for (const Technology::Unit& unit : units) {
      text += fmt::format("  - {{bits: {}, energy: {}, area: {}}}\n", unit.bits, unit.energy_pj,
                          unit.area_um2);
    }
  };
  add_units("multiplier", technology.multiplier);
  add_units("adder", technology.adder);
  const Technology::Sram& sram = technology.sram;
  text += fmt::format("  sram:\n    access_bits: {}\n    access:\n", sram.access_bits);
  for (const Technology::Access& access : sram.access) {
    text += fmt::format("    - {{bytes: {}, energy: {}}}\n", access.bytes, access.energy_pj);
  }
  text += fmt::format("    cell_area: {}\n    bank_bytes: {}\n    bank_efficiency: {}\n",
                      sram.cell_area_um2, sram.bank_bytes, sram.bank_efficiency);
  return text +
         fmt::format("  register: {{energy: {}, area: {}}}\n  dram: {{energy_per_bit: {}}}\n",
                     technology.register_energy_pj, technology.register_area_um2,
                     technology.dram_energy_per_bit_pj);
}

std::vector<std::string> ShippedTechnologyNames() {
  std::vector<std::string> names;
  for (const ShippedTable& table : kShippedTables) names.emplace_back(table.name);
  return names;
}

Technology ShippedTechnology(std::string_view name) {
  std::string names;
  for (const ShippedTable& table : kShippedTables) {
    if (table.name == name) return ParseTechnology(table.text, table.name);
    names += (names.empty() ? "" : ", ") + std::string(table.name);
  }
  throw InputError("there is no technology '" + std::string(name) + "'; there are " + names +
                   ", or give a YAML file");
}

Technology LoadTechnology(const std::string& name_or_file) {
  if (!LooksLikeYamlFile(name_or_file)) return ShippedTechnology(name_or_file);
  return ParseTechnology(base::ReadFile(name_or_file), name_or_file);
}

}  // namespace bayloom::mapspace
