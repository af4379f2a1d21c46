// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/graph/import.h"
#include "bayloom/graph/open/sample_points.h"

namespace bayloom::graph {

/// A model with open dimensions, in ONNX's text format.
struct OpenModel {
  std::string name;
  std::vector<Symbol> symbols;
  std::string text;
  std::map<std::string, std::string> sums = {};
  int opset = 14;
  bool has_ratios = false;  ///< it resizes by ratios that follow lengths

  ImportOptions Options() const;
  /// With the bounds of all values.
  Graph Open() const;
  /// The same as ImportOnnx has it.
  Graph Imported() const;
  Graph Fixed(const SymbolValues& lengths) const;
  /// As Fixed, to be compared with an instance of Open().
  Graph ToCompare(const SymbolValues& lengths) const;
  SymbolValues RandomLengths(base::RandomStream& stream) const;

 private:
  ImportOptions FixedOptions(const SymbolValues& lengths) const;
};
/// For GoogleTest.
inline void PrintTo(const OpenModel& model, std::ostream* out) { *out << model.name; }

/// Models that are one network for all their lengths.
std::vector<OpenModel> OpenModels();

}  // namespace bayloom::graph
