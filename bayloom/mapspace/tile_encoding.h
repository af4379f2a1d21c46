#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/encoding.h"

namespace bayloom {

/// Writes the factors that parameters stand for into a mapping.
class TileCoder {
 public:
  virtual ~TileCoder() = default;

  /// Its parameters, in the order they were added.
  const std::vector<std::string>& names() const { return names_; }
  /// Their values, in that order.
  virtual void Apply(std::span<const Value> values, Mapping& mapping) const = 0;
  /// The values that stand for a mapping's factors.
  virtual void AppendValues(const Mapping& mapping, std::vector<Value>& values) const = 0;
  /// Whether AppendValues gives values that stand for the very same factors.
  virtual bool is_exact() const { return true; }

 protected:
  void AddTo(Space::Builder& builder, std::unique_ptr<Parameter> parameter) {
    names_.push_back(parameter->name());
    builder.Add(std::move(parameter));
  }

 private:
  std::vector<std::string> names_;
};

/// Adds its parameters to the space.
std::unique_ptr<TileCoder> MakeTileCoder(TileEncoding encoding, const Mapspace& mapspace,
                                         const AnalyticalModel& model, Space::Builder& builder);

}  // namespace bayloom
