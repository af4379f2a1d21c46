// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>

#include "bayloom/mapspace/formats/zigzag.h"

namespace bayloom::mapspace {
namespace {

constexpr int64_t kMaxStep = 1000000;
constexpr int kMaxOperandBits = 4096;

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

/// "O[b][k]" of an equation.
struct IndexedName {
  std::string name;
  std::vector<std::string> indices;
};

class ZigzagLayerReader {
 public:
  explicit ZigzagLayerReader(const yaml::YamlValue& layer) : layer_(layer) {}

  /// Nullopt for a layer that multiplies nothing.
  std::optional<NamedProblem> Read() {
    const yaml::YamlValue equation = layer_.At("equation");
    const std::string text = WithoutBlanks(equation.Text());
    const size_t assign = text.find("+=");
    const size_t times = text.find('*');
    const yaml::YamlValue precision = layer_.At("operand_precision");
    const auto weight_bits = precision.Find("W");
    const bool multiplies = assign != std::string::npos && times != std::string::npos &&
                            weight_bits && weight_bits->IntWithin(0, kMaxOperandBits) > 0;
    if (!multiplies) return std::nullopt;
    ReadDimensions();
    const std::string_view whole = text;
    AddTensor(equation, whole.substr(assign + 2, times - assign - 2), precision);
    AddTensor(equation, whole.substr(times + 1), precision);
    AddTensor(equation, whole.substr(0, assign), precision);
    std::ranges::sort(problem_.tensors, {}, [](const DataSpace& tensor) {
      return tensor.name == "Weights" ? 0 : tensor.name == "Inputs" ? 1 : 2;
    });
    yaml::WithPlace(layer_, [&] { CheckProblem(problem_); });
    problem_.name = layer_.At("operator_type").Name();
    const auto name = layer_.Find("name");
    return NamedProblem{name ? name->Name() : "layer " + layer_.At("id").Text(),
                        std::move(problem_)};
  }

 private:
  void ReadDimensions() {
    const yaml::YamlValue dimensions = layer_.At("loop_dims");
    problem_.dimensions = dimensions.Names();
    const std::vector<yaml::YamlValue> sizes = layer_.At("loop_sizes").Items();
    if (sizes.size() != problem_.dimensions.size() || sizes.size() > kMaxDimensions) {
      dimensions.Fail(fmt::format("expected as many as 'loop_sizes', at most {}", kMaxDimensions));
    }
    for (const yaml::YamlValue& size : sizes) problem_.bounds.push_back(size.IntAtLeast(1));
    const auto relations = layer_.Find("dimension_relations");
    if (!relations) return;
    for (const yaml::YamlValue& relation : relations->Items()) ReadRelation(relation);
  }

  /// "ix=2*ox+1*fx".
  void ReadRelation(const yaml::YamlValue& relation) {
    const std::string text = WithoutBlanks(relation.Text());
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) relation.Fail("expected 'ix=2*ox+1*fx'");
    std::vector<AxisTerm>& terms = sums_[Upper(text.substr(0, equals))];
    std::string_view rest = std::string_view(text).substr(equals + 1);
    while (!rest.empty()) {
      std::string_view term = rest.substr(0, rest.find('+'));
      rest.remove_prefix(std::min(term.size() + 1, rest.size()));
      int64_t step = 1;
      if (const size_t times = term.find('*'); times != std::string_view::npos) {
        const char* end = term.data() + times;
        const auto [used, error] = std::from_chars(term.data(), end, step);
        if (error != std::errc() || used != end || step < 1 || step > kMaxStep) {
          relation.Fail(fmt::format("expected a whole number from 1 to {} before '*'", kMaxStep));
        }
        term.remove_prefix(times + 1);
      }
      terms.push_back({DimensionOf(relation, Upper(term)), step});
    }
  }

  int DimensionOf(const yaml::YamlValue& place, const std::string& name) const {
    const int dimension = problem_.DimensionNamed(name);
    if (dimension < 0) place.Fail(fmt::format("there is no dimension '{}' in loop_dims", name));
    return dimension;
  }

  static IndexedName ReadIndexed(const yaml::YamlValue& equation, std::string_view text) {
    IndexedName read;
    read.name = text.substr(0, text.find('['));
    text.remove_prefix(read.name.size());
    while (text.starts_with('[')) {
      const size_t end = text.find(']');
      if (end == std::string_view::npos) break;
      read.indices.emplace_back(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
    }
    if (!text.empty() || read.indices.empty()) {
      equation.Fail("expected 'O[b][k]+=W[k][c]*I[b][c]' with a product of two tensors");
    }
    return read;
  }

  void AddTensor(const yaml::YamlValue& equation, std::string_view text,
                 const yaml::YamlValue& precision) {
    const IndexedName read = ReadIndexed(equation, text);
    DataSpace tensor;
    if (read.name == "O") {
      tensor.name = "Outputs";
      tensor.read_write = true;
    } else if (read.name == "W" || read.name == "I") {
      tensor.name = read.name == "W" ? "Weights" : "Inputs";
    } else {
      equation.Fail(fmt::format("'{}' is not one of O, W and I", read.name));
    }
    tensor.word_bits = static_cast<int>(precision.At(read.name).IntWithin(1, kMaxOperandBits));
    for (const std::string& index : read.indices) {
      if (index.empty()) continue;
      const auto sum = sums_.find(Upper(index));
      tensor.axes.push_back(sum != sums_.end()
                                ? sum->second
                                : std::vector<AxisTerm>{{DimensionOf(equation, Upper(index))}});
    }
    problem_.tensors.push_back(std::move(tensor));
  }

  const yaml::YamlValue& layer_;
  Problem problem_;
  std::map<std::string, std::vector<AxisTerm>> sums_;  ///< of dimension_relations
};

}  // namespace

std::vector<NamedProblem> ReadZigzagWorkload(const yaml::YamlValue& document) {
  std::vector<NamedProblem> layers;
  for (const yaml::YamlValue& layer : document.Items()) {
    if (std::optional<NamedProblem> read = ZigzagLayerReader(layer).Read()) {
      layers.push_back(*std::move(read));
    }
  }
  if (layers.empty()) document.Fail("no layer multiplies anything");
  return layers;
}

}  // namespace bayloom::mapspace
