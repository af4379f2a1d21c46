// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/import_open.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/graph/open/compare.h"
#include "bayloom/graph/open/generalize.h"
#include "bayloom/graph/open/instantiate.h"
#include "bayloom/graph/open/same_network.h"
#include "bayloom/graph/open/sample_points.h"

namespace bayloom::graph {
namespace {

class OpenImport {
 public:
  OpenImport(const std::string& path, const onnx::ModelProto& model, const ImportOptions& options)
      : path_(path), model_(model), options_(options), symbols_(options.symbols) {}

  Graph Run() {
    const std::vector<SymbolValues> points = SamplePoints(symbols_);
    Graph largest = At(points[0]);
    std::vector<std::vector<Counterpart>> samples;
    bool are_as_long = true;
    for (size_t p = 1; p < points.size(); ++p) {
      const Graph sample = At(points[p]);
      samples.push_back(Compare(largest, sample));
      are_as_long &= sample.nodes.size() == largest.nodes.size();
    }
    try {
      open_ = Generalize(std::move(largest), symbols_, samples);
    } catch (const InputError& error) {
      if (are_as_long) throw;
      throw InputError(
          fmt::format("{} (recurrent operators and loops are unrolled: how many steps "
                      "they take has to be fixed)",
                      error.what()));
    }
    for (const SymbolValues& point : PointsToConfirm(symbols_)) {
      if (const std::string difference = DifferenceAt(point); !difference.empty()) {
        Refuse(point, difference);
      }
    }
    if (!options_.points.empty()) open_.points = options_.points;
    return std::move(open_);
  }

 private:
  Graph At(const SymbolValues& lengths) {
    ImportOptions fixed = options_;
    fixed.symbols.clear();
    for (size_t s = 0; s < symbols_.size(); ++s) fixed.dimensions[symbols_[s].name] = lengths[s];
    try {
      return ImportToCompare(path_, model_, fixed, known_);
    } catch (const InputError& error) {
      throw InputError(fmt::format("with {} {}", PointText(lengths), error.what()));
    }
  }

  std::string PointText(const SymbolValues& lengths) const {
    std::string text;
    for (size_t s = 0; s < symbols_.size(); ++s) {
      text += fmt::format("{}{}={}", s == 0 ? "" : " ", symbols_[s].name, lengths[s]);
    }
    return text;
  }

  /// How the open network is another one than the model with these lengths; empty if it is not.
  std::string DifferenceAt(const SymbolValues& lengths) {
    try {
      return FirstDifference(Instantiate(open_, lengths), At(lengths));
    } catch (const InputError& error) {
      return error.what();
    } catch (const std::logic_error& error) {  // a length that is none
      return error.what();
    }
  }

  /// Says which lengths the network is one for: all from one on, of the symbol that it depends on.
  [[noreturn]] void Refuse(const SymbolValues& point, const std::string& difference) {
    SymbolValues largest;
    for (const Symbol& symbol : symbols_) largest.push_back(symbol.largest);
    for (const SymbolValues& others : {largest, point}) {
      for (size_t s = 0; s < symbols_.size(); ++s) {
        const std::optional<Symbol> from = FirstGood(s, point[s], others);
        if (!from || from->ValueCount() <= kFewest) continue;  // it is no polynomial
        throw InputError(
            fmt::format("with {} {}; give {}, and smaller lengths as sizes of their own",
                        PointText(point), difference, from->ToString()));
      }
    }
    throw InputError(fmt::format(
        "with {} {}; it follows the lengths neither linearly nor as a product of two of them{}",
        PointText(point), difference, MultiplesAdvice(symbols_)));
  }

  /// The symbol from the length on for which the network is this one, the other lengths being
  /// those; nullopt if that is not why it is another one for length `bad`.
  std::optional<Symbol> FirstGood(size_t s, int64_t bad, SymbolValues lengths) {
    Symbol from = symbols_[s];
    const auto differs_at = [&](int64_t length) {
      lengths[s] = length;
      return !DifferenceAt(lengths).empty();
    };
    if (bad == from.largest || !differs_at(bad) || differs_at(from.largest)) return std::nullopt;
    int64_t good = from.largest;
    while (good - bad > from.step) {
      const int64_t middle = bad + (good - bad) / from.step / 2 * from.step;
      (differs_at(middle) ? bad : good) = middle;
    }
    from.smallest = good;
    return from;
  }

  /// Samples and one more: what holds for so few may not hold for any other.
  static constexpr int64_t kFewest = 4;

  const std::string& path_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  const std::vector<Symbol>& symbols_;
  KnownInitializers known_;
  Graph open_;
};

}  // namespace

Graph ImportOpen(const std::string& path, const onnx::ModelProto& model,
                 const ImportOptions& options) {
  return OpenImport(path, model, options).Run();
}

}  // namespace bayloom::graph
