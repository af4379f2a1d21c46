// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bayloom/graph/length.h"

namespace bayloom::graph {

/// A length that an operator finds, and what is known of it when a model is imported.
struct FoundRequest {
  std::string tensor;            ///< the output that has it, by its name in the model
  int dimension = 0;             ///< of the output, or kNoDimension
  std::string dimension_name;    ///< what the model calls that dimension; may be empty
  std::optional<int64_t> bound;  ///< from shapes
  bool is_computed = false;      ///< imports know it, but do not say how it follows from lengths
  int64_t least = 0;
  std::optional<int64_t> stated;  ///< what the model says that the dimension is
  std::string node, op;           ///< which finds it

  /// In place of a dimension: the length is none of the output, but what it depends on, such as the
  /// number of steps of a loop.
  static constexpr int kNoDimension = -1;
};

/// A length that is found, as an import has it.
struct FoundBound {
  /// Who says how long it is at most.
  enum class Source : uint8_t { kShapes, kModel, kUser };

  std::string name;  ///< of the dimension where the model has one, else of the tensor
  std::string node, op;
  int symbol = -1;  ///< as FoundLength
  int64_t least = 0, most = 0;
  Source source = Source::kShapes;
  int64_t length = 0;  ///< in this import
};
/// "shapes", "model", "user"
std::string ToString(FoundBound::Source source);

/// Which lengths a model finds when it runs, in the order in which its imports come to them; these
/// have them as long as they are told to.
class FoundLengths {
 public:
  /// `bounds`: those that a user gives, by the names of tensors or dimensions.
  explicit FoundLengths(std::map<std::string, int64_t> bounds) : bounds_(std::move(bounds)) {}

  /// The next import has lengths of their bounds; symbols before those that are found: `others`.
  void BeginFirst(std::span<const Symbol> others);
  /// The next import has these lengths of symbols().
  void Begin(std::span<const int64_t> lengths);
  /// The bound that the user gives for it, if any.
  std::optional<int64_t> GivenFor(const FoundRequest& request) const;
  /// How many rows memory has to hold of the next length, which shapes bound: in all imports as
  /// many as in the first one.
  int64_t CapacityFor(const FoundRequest& request) const;
  /// The next length. Throws InputError where nothing bounds it, saying which bound to give.
  const FoundBound& Next(const FoundRequest& request);

  /// All that the first import has come to.
  const std::vector<FoundBound>& all() const { return all_; }
  /// Those of them that are not fixed.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  /// Throws InputError for a bound of the user's that is for none of them.
  void CheckBounds() const;

 private:
  FoundBound First(const FoundRequest& request);
  std::string NameOf(const FoundRequest& request) const;

  std::map<std::string, int64_t> bounds_;
  std::set<std::string> used_bounds_, taken_names_;
  std::vector<FoundBound> all_;
  std::vector<Symbol> symbols_;
  int first_symbol_ = 0;
  size_t next_ = 0;
  bool is_first_ = true;
};

}  // namespace bayloom::graph
