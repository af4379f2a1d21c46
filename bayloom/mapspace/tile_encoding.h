// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/encoding.h"

namespace bayloom::mapspace {

/// Per dimension, what is wanted in its free slots, innermost first; the outermost's is not looked
/// at.
struct WantedFactors {
  struct OfDimension {
    int dimension;
    std::array<int64_t, 2 * kMaxLevels> factors;
  };
  std::array<OfDimension, kMaxDimensions> dimensions;
  int count = 0;

  std::span<int64_t> Add(int dimension) {
    dimensions[count].dimension = dimension;
    return dimensions[count++].factors;
  }
  std::span<const OfDimension> all() const { return std::span(dimensions).first(count); }
};

/// The largest divisor that is not above the limit; at least 1.
int64_t LargestDivisor(int64_t number, double limit);
/// "K.registers", "K.registers.spatial": what a parameter for the slot is called.
std::string SlotName(const Mapspace& mapspace, int dimension, const Mapspace::Slot& slot);

/// Whether there is more than one way to split the dimension's bound.
bool HasChoice(const Mapspace& mapspace, int dimension);

/// Gives the bound of each dimension without a choice to its one slot.
void FillClosedDimensions(const Mapspace& mapspace, Mapping& mapping);

/// Sets the factors of the dimensions with a choice as they are wanted or, one dimension after the
/// other, as near to it as fits; those without one as they must be. (The same either way where they
/// can be as they are wanted; only faster.)
void SetAllFactors(const Mapspace& mapspace, const AnalyticalModel& model,
                   const WantedFactors& wanted, Mapping& mapping);

/// Writes the factors that parameters stand for into a mapping.
class TileCoder {
 public:
  virtual ~TileCoder() = default;

  /// Its parameters, in the order they were added.
  const std::vector<std::string>& names() const { return names_; }
  /// Their values, in that order.
  virtual void Apply(std::span<const space::Value> values, Mapping& mapping) const = 0;
  /// The values that stand for a mapping's factors.
  virtual void AppendValues(const Mapping& mapping, std::vector<space::Value>& values) const = 0;
  /// Whether AppendValues gives values that stand for the very same factors.
  virtual bool is_exact() const { return true; }

 protected:
  void AddTo(space::Space::Builder& builder, std::unique_ptr<space::Parameter> parameter) {
    names_.push_back(parameter->name());
    builder.Add(std::move(parameter));
  }

 private:
  std::vector<std::string> names_;
};

/// "divisor".
std::unique_ptr<TileCoder> MakeDivisorCoder(const Mapspace& mapspace, const AnalyticalModel& model,
                                            space::Space::Builder& builder);
/// "integer".
std::unique_ptr<TileCoder> MakeRoundedIntegerCoder(const Mapspace& mapspace,
                                                   const AnalyticalModel& model,
                                                   space::Space::Builder& builder);

}  // namespace bayloom::mapspace
