// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/graph/open/import_open.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
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
      : path_(path),
        model_(model),
        options_(options),
        symbols_(options.symbols),
        found_(options.bounds) {}

  Graph Run() {
    AddFound();
    while (true) {
      try {
        return FromSamples();
      } catch (const LeastRaised&) {
        continue;
      } catch (const LengthsAdded&) {
        symbols_ = options_.symbols;
        AddFound();
      }
    }
  }

  /// "height=32..256:4 width=32..256:4", if the network is one for these multiples; else empty.
  std::string MultiplesThatDo() {
    const std::vector<Symbol> given = symbols_;
    if (!AreAllSampled()) return "";
    for (int64_t step = 2; step <= kMaxStep; step *= 2) {
      symbols_ = WithMultiples(given, step);
      if (symbols_ == given) continue;
      try {
        From({});
        return Text(symbols_);
      } catch (const LeastRaised&) {
        continue;
      } catch (const InputError&) {
        continue;
      }
    }
    return "";
  }

 private:
  /// A length that is found has to be longer than it was thought to be.
  struct LeastRaised {};
  /// More lengths are found than it was thought.
  struct LengthsAdded {};

  Graph FromSamples() {
    std::exception_ptr polynomials;  // why they do not do
    if (AreAllSampled()) {
      try {
        return From({});
      } catch (const InputError&) {
        polynomials = std::current_exception();
      }
    }
    try {
      std::vector<SymbolValues> between = PointsBetween(symbols_);
      const std::vector<SymbolValues> few = PointsOfFewFound(symbols_);
      between.insert(between.end(), few.begin(), few.end());
      return From(between);
    } catch (const InputError& error) {
      const auto* unfit = dynamic_cast<const UnfitExtents*>(&error);
      if (unfit != nullptr && FindComputed(unfit->scopes())) throw LengthsAdded();
      if (is_generalized_ || !polynomials) throw;
      std::rethrow_exception(polynomials);
    }
  }

  bool AreAllSampled() const { return SampledCount(symbols_) == symbols_.size(); }

  /// Has lengths found when the network runs that the first possible one of these nodes computes
  /// from other lengths; false if there is none. What they are at most is seen at the ends of all
  /// ranges.
  bool FindComputed(const std::vector<std::string>& scopes) {
    for (const std::string& scope : scopes) {
      const std::string beginning = scope + ".";
      if (!imports_.lengths.MayFind(beginning)) continue;
      for (const SymbolValues& corner : CornersOf(symbols_)) At(corner);
      imports_.lengths.Find(beginning);
      return true;
    }
    return false;
  }

  /// The lengths that the network finds become symbols.
  void AddFound() {
    SymbolValues largest;
    for (const Symbol& symbol : symbols_) largest.push_back(symbol.largest);
    found_.BeginFirst(symbols_);
    Import(largest);
    found_.CheckBounds();
    symbols_.insert(symbols_.end(), found_.symbols().begin(), found_.symbols().end());
    if (symbols_.empty()) throw std::logic_error("no open dimension");
  }

  /// The network from imports at sample points and those `between`, without which all lengths in
  /// it have to be polynomials.
  Graph From(const std::vector<SymbolValues>& between) {
    is_general_ = !between.empty();
    if (is_general_) {  // what is another number in these
      At(SamplePoints(symbols_)[0]);
      At(between.back());
    }
    imports_.TakeNew();
    while (true) {
      try {
        Graph open = FromOnce(between);
        if (!imports_.TakeNew()) return open;
      } catch (const InputError&) {
        if (!imports_.TakeNew()) throw;
      }
    }
  }

  /// The same, unless imports find that parts are optional.
  Graph FromOnce(const std::vector<SymbolValues>& between) {
    std::vector<SymbolValues> points = SamplePoints(symbols_);
    points.insert(points.end(), between.begin(), between.end());
    is_generalized_ = false;
    const Graph largest = Largest(points);
    std::vector<std::vector<Counterpart>> samples;
    for (int round = 0; round < kMaxRounds; ++round) {
      bool are_as_long = true;
      while (samples.size() + 1 < points.size()) {
        const Graph sample = At(points[samples.size() + 1]);
        samples.push_back(Compare(largest, sample));
        are_as_long &= sample.nodes.size() == largest.nodes.size();
      }
      LengthFit fit(symbols_, points);
      open_ = Generalized(largest, fit, samples, are_as_long);
      if (fit.undecided().empty()) break;
      points.insert(points.end(), fit.undecided().begin(), fit.undecided().end());
      std::sort(points.begin() + static_cast<ptrdiff_t>(samples.size()) + 1, points.end());
      points.erase(std::unique(points.begin(), points.end()), points.end());
    }
    is_generalized_ = true;
    for (const SymbolValues& point : PointsToConfirm(symbols_, is_general_ ? 8 : 2)) {
      if (const std::string difference = DifferenceAt(point); !difference.empty()) {
        Refuse(point, difference);
      }
    }
    for (FoundLength& found : open_.found) {
      if (found.symbol >= 0) found.least = symbols_[static_cast<size_t>(found.symbol)].smallest;
    }
    if (!options_.points.empty()) open_.points = PointsGiven();
    return std::move(open_);
  }

  /// Those of the options, beside the typical lengths of what is found.
  std::vector<SymbolValues> PointsGiven() const {
    const std::vector<SymbolValues> found = TypicalLengths(found_.symbols());
    std::vector<SymbolValues> points = options_.points;
    for (size_t p = 0; p < points.size() && !found.empty(); ++p) {
      const SymbolValues& beside = found[p % found.size()];
      points[p].insert(points[p].end(), beside.begin(), beside.end());
    }
    return points;
  }

  /// The import for the first point, in which it is known which operators take steps whose number
  /// follows lengths.
  Graph Largest(const std::vector<SymbolValues>& points) {
    imports_.steps = {};
    Graph largest = At(points[0]);
    if (!imports_.steps.HasOperators()) return largest;
    SymbolValues others = points[0];
    for (const SymbolValues& point : points) {
      for (size_t s = 0; s < others.size(); ++s) {
        if (point[s] != points[0][s]) others[s] = point[s];
      }
    }
    At(others);
    return imports_.steps.HasOpen() ? At(points[0]) : largest;
  }

  Graph Generalized(const Graph& largest, LengthFit& fit,
                    const std::vector<std::vector<Counterpart>>& samples, bool are_as_long) const {
    try {
      return Generalize(largest, symbols_, fit, samples);
    } catch (const UnfitExtents&) {
      throw;
    } catch (const InputError& error) {
      if (are_as_long) throw;
      throw InputError(
          fmt::format("{} (loops are unrolled: of those that end by a condition, how many steps "
                      "they take has to be fixed)",
                      error.what()));
    }
  }

  Graph At(const SymbolValues& lengths) {
    found_.Begin(std::span(lengths).subspan(options_.symbols.size()));
    return Import(lengths);
  }

  Graph Import(const SymbolValues& lengths) {
    ImportOptions fixed = options_;
    fixed.symbols.clear();
    for (size_t s = 0; s < options_.symbols.size(); ++s) {
      fixed.dimensions[symbols_[s].name] = lengths[s];
    }
    try {
      return ImportToCompare(path_, model_, fixed, known_, imports_, found_, is_general_);
    } catch (const RunTimeDependence& error) {
      throw RunTimeDependence(With(lengths, error.what()), error.inputs(), error.bound());
    } catch (const InputError& error) {
      throw InputError(With(lengths, error.what()));
    }
  }

  std::string With(const SymbolValues& lengths, const std::string& message) const {
    return lengths.empty() ? message : fmt::format("with {} {}", PointText(lengths), message);
  }

  static std::string Text(const std::vector<Symbol>& symbols) {
    std::vector<std::string> texts;
    for (const Symbol& symbol : symbols) texts.push_back(symbol.ToString());
    return fmt::format("{}", fmt::join(texts, " "));
  }

  std::string PointText(const SymbolValues& lengths) const {
    std::string text;
    for (size_t s = 0; s < lengths.size(); ++s) {
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
        if (!from) continue;
        if (from->is_found && is_general_) {
          symbols_[s].smallest = from->smallest;
          throw LeastRaised();
        }
        if (from->is_found || from->ValueCount() <= kFewest) continue;  // it is no polynomial
        throw InputError(
            fmt::format("with {} {}; give {}, and smaller lengths as sizes of their own",
                        PointText(point), difference, from->ToString()));
      }
    }
    throw InputError(fmt::format(
        "with {} {}; it follows the lengths neither linearly nor as a product of two of them",
        PointText(point), difference));
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
  /// Of adding points where lengths are undecided.
  static constexpr int kMaxRounds = 8;
  /// Of multiples that are tried.
  static constexpr int64_t kMaxStep = 64;

  const std::string& path_;
  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  std::vector<Symbol> symbols_;
  KnownConstants known_;
  ComparedImports imports_;
  FoundLengths found_;
  Graph open_;
  bool is_general_ = false, is_generalized_ = false;
};

}  // namespace

Graph ImportOpen(const std::string& path, const onnx::ModelProto& model,
                 const ImportOptions& options) {
  OpenImport import(path, model, options);
  try {
    return import.Run();
  } catch (const RunTimeDependence&) {
    throw;
  } catch (const InputError& error) {
    const std::string multiples = import.MultiplesThatDo();
    if (multiples.empty()) throw;
    throw InputError(fmt::format("{}; it is one network with {}", error.what(), multiples));
  }
}

}  // namespace bayloom::graph
