// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/mapspace/architecture.h"

namespace bayloom::mapspace {

/// What units cost in a process node: a small table of components, in the manner of Accelergy (Wu
/// et al. 2019), from which energies and areas of other sizes are interpolated as powers.
///
///     const Technology node = LoadTechnology("45nm");
///     const double mm2 = AreaOf(ShippedArchitecture("gemmini"), node);
///
/// Counted are multipliers, adders and memories, not control, wires, networks or pads: areas are
/// lower bounds, for comparing designs with each other.
struct Technology {
  /// An arithmetic unit of so many bits.
  struct Unit {
    double bits;
    double energy_pj;
    double area_um2;
  };
  /// One access of `Sram::access_bits` bits in a memory of so many bytes.
  struct Access {
    double bytes;
    double energy_pj;
  };
  struct Sram {
    double access_bits = 64;
    std::vector<Access> access;  ///< ascending
    double cell_area_um2 = 0;    ///< of one bit
    double bank_bytes = 0;       ///< larger memories are made of banks of this size
    double bank_efficiency = 1;  ///< the part of such a bank that is cells
  };

  std::string name;
  std::vector<Unit> multiplier, adder;  ///< ascending, at least two each
  Sram sram;
  double register_energy_pj = 0;  ///< of accessing one bit
  double register_area_um2 = 0;   ///< of one bit
  double dram_energy_per_bit_pj = 0;

  /// Of a multiplication of two words and an addition of twice their width.
  double MacEnergyPj(int word_bits) const;
  double MacAreaUm2(int word_bits) const;
  /// Of accessing `access_bits` bits of an on-chip memory of this capacity. Between the table's
  /// capacities and above them the energy is a power of the capacity; below the least it falls with
  /// the capacity's square root, down to that of registers.
  double MemoryEnergyPj(double capacity_bits, double access_bits) const;
  /// The less of registers and SRAM: banks whose cells are a square with a strip of constant width
  /// along two sides.
  double MemoryAreaUm2(double capacity_bits) const;
};

/// Multipliers and all memories with a capacity, in mm2; what is unbounded is off the chip.
double AreaOf(const Architecture& architecture, const Technology& technology);

/// The tables that come with the program, by name: "45nm", "7nm". Throws InputError for others.
Technology ShippedTechnology(std::string_view name);
std::vector<std::string> ShippedTechnologyNames();
/// From a YAML text like those in technologies/. Throws InputError naming file, line and key.
Technology ParseTechnology(const std::string& text, const std::string& file);
/// A text that ParseTechnology reads as the same technology.
std::string PrintTechnology(const Technology& technology);
/// A shipped table's name, or a file.
Technology LoadTechnology(const std::string& name_or_file);

}  // namespace bayloom::mapspace
