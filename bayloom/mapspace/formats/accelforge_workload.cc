// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bayloom/mapspace/formats/accelforge.h"
#include "bayloom/mapspace/formats/tensor_sets.h"
#include "bayloom/space/evaluate_expression.h"

namespace bayloom::mapspace {
namespace {

constexpr int64_t kMostPerIndex = 1000000;
constexpr int kMostBits = 4096;
constexpr int kUsualBits = 8;

/// A rank of a tensor and the sum that indexes it.
struct RankIndex {
  std::string rank;
  std::string index;  ///< without blanks
};

struct TensorAccess {
  std::string name;
  std::vector<RankIndex> ranks;
  bool is_output = false;
};

std::string Squeezed(std::string_view text) {
  std::string squeezed;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) squeezed += c;
  }
  return squeezed;
}

std::string UpperOf(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsVariable(std::string_view text) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, is_of_name);
}

/// "p", or "M: p".
RankIndex ReadRankIndex(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {UpperOf(text), std::string(text)};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

class AccelforgeWorkloadReader {
 public:
  explicit AccelforgeWorkloadReader(const yaml::YamlValue& workload) : workload_(workload) {
    workload.AllowOnly({"version", "rank_sizes", "iteration_space_shape", "shape", "einsums",
                        "bits_per_value", "persistent_tensors", "n_instances"});
    if (const auto sizes = workload.Find("rank_sizes")) {
      for (const auto& [rank, size] : sizes->Entries()) rank_sizes_[rank] = SizeOf(size);
    }
    if (const auto shape = workload.FindAny({"iteration_space_shape", "shape"})) {
      ReadShape(*shape, sizes_);
    }
    if (const auto bits = workload.Find("bits_per_value")) {
      for (const auto& [set, value] : bits->Entries()) {
        if (RoleNamed(set) == kNoTensor) value.Fail("is of none of input, weight, output, All");
        for (const auto& [tensor, bit] : kTensorBits) {
          if ((RoleNamed(set) & bit) == 0) continue;
          bits_[std::string(tensor)] = static_cast<int>(value.IntWithin(1, kMostBits));
        }
      }
    }
  }

  std::vector<NamedProblem> Read() {
    std::vector<NamedProblem> layers;
    for (const yaml::YamlValue& einsum : workload_.At("einsums").Items()) {
      if (std::optional<NamedProblem> layer = ReadEinsum(einsum)) {
        layers.push_back(*std::move(layer));
      }
    }
    if (layers.empty()) workload_.Fail("no einsum multiplies anything");
    return layers;
  }

 private:
  using Sizes = std::map<std::string, int64_t>;

  /// A number, or an expression of numbers.
  static int64_t SizeOf(const yaml::YamlValue& value) {
    const Result<double> size = space::EvaluateExpression(value.Text(), {});
    constexpr double kMost = 0x1p50;
    if (!size || !(*size >= 1) || *size > kMost || std::floor(*size) != *size) {
      value.Fail("expected a whole number, or an expression of numbers that is one");
    }
    return static_cast<int64_t>(*size);
  }

  /// "0 <= m < 128", of each variable or in a list.
  static void ReadShape(const yaml::YamlValue& shape, Sizes& sizes) {
    std::vector<yaml::YamlValue> bounds;
    if (shape.IsMap()) {
      for (const auto& [name, bound] : shape.Entries()) bounds.push_back(bound);
    } else {
      bounds = shape.Items();
    }
    for (const yaml::YamlValue& bound : bounds) {
      const std::string text = Squeezed(bound.Text());
      const size_t less = text.rfind('<');
      const bool is_bound = text.starts_with("0<=") && less != std::string::npos && less > 3;
      int64_t size = 0;
      const char* const end = text.data() + text.size();
      if (!is_bound || std::from_chars(text.data() + less + 1, end, size).ptr != end || size < 1) {
        bound.Fail("expected '0 <= m < 128'");
      }
      sizes[text.substr(3, less - 3)] = size;
    }
  }

  /// Nullopt for an einsum that multiplies no two tensors.
  std::optional<NamedProblem> ReadEinsum(const yaml::YamlValue& einsum) {
    std::vector<TensorAccess> accesses;
    std::string name;
    Sizes sizes = sizes_;
    std::optional<yaml::YamlValue> renames;
    if (einsum.IsScalar()) {
      accesses = ParseEinsum(einsum, einsum.Text());
    } else {
      einsum.AllowOnly({"name", "einsum", "tensor_accesses", "renames", "is_copy_operation",
                        "iteration_space_shape", "rank_sizes", "n_instances"});
      if (const auto text = einsum.Find("einsum")) {
        accesses = ParseEinsum(*text, text->Text());
      } else {
        for (const yaml::YamlValue& access : einsum.At("tensor_accesses").Items()) {
          accesses.push_back(ReadAccess(access));
        }
      }
      if (const auto given = einsum.Find("name")) name = given->Name();
      if (const auto shape = einsum.Find("iteration_space_shape")) ReadShape(*shape, sizes);
      renames = einsum.Find("renames");
    }
    const auto output = std::ranges::find(accesses, true, &TensorAccess::is_output);
    if (output == accesses.end()) einsum.Fail("has no output");
    const TensorAccess result = *output;
    accesses.erase(output);
    const bool is_product =
        accesses.size() == 2 && !accesses[0].is_output && !accesses[1].is_output;
    if (accesses.size() > 2) einsum.Fail("multiplies more than two tensors, or has two outputs");
    const bool is_swapped = is_product && !IsFirstTheInput(accesses, renames);
    computed_.insert(result.name);
    if (!is_product) return std::nullopt;
    if (is_swapped) std::swap(accesses[0], accesses[1]);
    NamedProblem layer = {name.empty() ? result.name : name, {}};
    layer.problem.name = "einsum";
    AddTensor(einsum, "Weights", accesses[1], sizes, layer.problem);
    AddTensor(einsum, "Inputs", accesses[0], sizes, layer.problem);
    AddTensor(einsum, "Outputs", result, sizes, layer.problem);
    layer.problem.tensors.back().read_write = true;
    yaml::WithPlace(einsum, [&] { CheckProblem(layer.problem); });
    return layer;
  }

  /// The input is what `renames` says, else what an earlier einsum computes, else the first.
  bool IsFirstTheInput(const std::vector<TensorAccess>& accesses,
                       const std::optional<yaml::YamlValue>& renames) const {
    for (const auto& [role, is_input] : {std::pair("input", true), std::pair("weight", false)}) {
      const auto given = renames ? renames->Find(role) : std::nullopt;
      if (!given) continue;
      const std::string tensor = given->Text();
      if (tensor == accesses[0].name) return is_input;
      if (tensor == accesses[1].name) return !is_input;
      given->Fail(fmt::format("the einsum does not read '{}'", tensor));
    }
    return computed_.contains(accesses[0].name) || !computed_.contains(accesses[1].name);
  }

  /// "V[b, m, h] = I[b, m, d] * WV[h, d]".
  static std::vector<TensorAccess> ParseEinsum(const yaml::YamlValue& place,
                                               const std::string& einsum) {
    const std::string text = Squeezed(einsum);
    const std::vector<std::string_view> sides = SplitAt(text, '=');
    const auto fail = [&] { place.Fail("expected 'V[b, m] = I[b, d] * W[d, m]'"); };
    if (sides.size() != 2) fail();
    std::vector<TensorAccess> accesses;
    const auto add = [&](std::string_view access, bool is_output) {
      const size_t open = access.find('[');
      if (open == std::string_view::npos || !access.ends_with(']')) fail();
      TensorAccess read{std::string(access.substr(0, open)), {}, is_output};
      const std::string_view inside = access.substr(open + 1, access.size() - open - 2);
      if (!IsVariable(read.name)) fail();
      for (const std::string_view rank : SplitAt(inside, ',')) {
        read.ranks.push_back(ReadRankIndex(rank));
      }
      accesses.push_back(std::move(read));
    };
    add(sides[0], true);
    // A product's '*' stands behind a bracket; others are within one.
    std::string_view rest = sides[1];
    while (true) {
      const size_t end = rest.find("]*");
      if (end == std::string_view::npos) break;
      add(rest.substr(0, end + 1), false);
      rest.remove_prefix(end + 2);
    }
    add(rest, false);
    return accesses;
  }

  static TensorAccess ReadAccess(const yaml::YamlValue& value) {
    value.AllowOnly({"name", "projection", "output", "bits_per_value", "persistent"});
    TensorAccess access{value.At("name").Name(), {}, false};
    if (const auto output = value.Find("output")) access.is_output = output->Bool();
    const yaml::YamlValue projection = value.At("projection");
    if (projection.IsMap()) {
      for (const auto& [rank, index] : projection.Entries()) {
        access.ranks.push_back({rank, Squeezed(index.Text())});
      }
    } else {
      for (const std::string& rank : projection.Texts()) {
        access.ranks.push_back(ReadRankIndex(Squeezed(rank)));
      }
    }
    return access;
  }

  void AddTensor(const yaml::YamlValue& place, const std::string& name, const TensorAccess& access,
                 const Sizes& sizes, Problem& problem) const {
    DataSpace tensor;
    tensor.name = name;
    if (const auto bits = bits_.find(name); bits != bits_.end() && bits->second != kUsualBits) {
      tensor.word_bits = bits->second;
    }
    for (const RankIndex& rank : access.ranks) {
      std::vector<AxisTerm>& axis = tensor.axes.emplace_back();
      for (const std::string_view term : SplitAt(rank.index, '+')) {
        const auto [variable, step] = ReadTerm(place, term);
        axis.push_back({DimensionOf(place, variable, sizes, problem), step});
        const auto size = rank_sizes_.find(rank.rank);
        if (size != rank_sizes_.end() && variable == rank.index) {
          LimitBound(place, variable, size->second, sizes, problem);
        }
      }
    }
    problem.tensors.push_back(std::move(tensor));
  }

  /// "2*p", "p*2" or "p".
  static std::pair<std::string, int64_t> ReadTerm(const yaml::YamlValue& place,
                                                  std::string_view term) {
    int64_t step = 1;
    std::string variable;
    for (const std::string_view factor : SplitAt(term, '*')) {
      int64_t number = 0;
      const char* const end = factor.data() + factor.size();
      if (std::from_chars(factor.data(), end, number).ptr == end && number >= 1 &&
          number <= kMostPerIndex && step == 1) {
        step = number;
      } else if (variable.empty() && IsVariable(factor)) {
        variable = factor;
      } else {
        variable.clear();
        break;
      }
    }
    if (variable.empty()) {
      place.Fail(fmt::format("'{}' is no sum of variables, such as '2*p+r'", term));
    }
    return {variable, step};
  }

  int DimensionOf(const yaml::YamlValue& place, const std::string& variable, const Sizes& sizes,
                  Problem& problem) const {
    const int known = problem.DimensionNamed(variable);
    if (known >= 0) return known;
    int64_t bound = 0;
    if (const auto size = sizes.find(variable); size != sizes.end()) bound = size->second;
    if (bound == 0) {
      const auto size = rank_sizes_.find(UpperOf(variable));
      if (size == rank_sizes_.end()) {
        place.Fail(
            fmt::format("the size of '{}' is in neither iteration_space_shape nor "
                        "rank_sizes",
                        variable));
      }
      bound = size->second;
    }
    problem.dimensions.push_back(variable);
    problem.bounds.push_back(bound);
    return problem.DimensionCount() - 1;
  }

  /// A rank that a variable indexes alone bounds it.
  static void LimitBound(const yaml::YamlValue& place, const std::string& variable, int64_t size,
                         const Sizes& sizes, Problem& problem) {
    int64_t& bound = problem.bounds[problem.DimensionNamed(variable)];
    if (sizes.contains(variable) && bound > size) {
      place.Fail(
          fmt::format("'{}' has {} values, but indexes a rank of {}", variable, bound, size));
    }
    bound = std::min(bound, size);
  }

  const yaml::YamlValue& workload_;
  Sizes rank_sizes_, sizes_;
  std::map<std::string, int> bits_;
  std::set<std::string> computed_;  ///< by einsums read so far
};

}  // namespace

std::vector<NamedProblem> ReadAccelforgeWorkload(const yaml::YamlValue& document) {
  const yaml::YamlValue workload = document.At("workload");
  return AccelforgeWorkloadReader(workload).Read();
}

}  // namespace bayloom::mapspace
