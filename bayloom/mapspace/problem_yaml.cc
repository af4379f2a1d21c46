// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/single_line.h"
#include "bayloom/mapspace/sparse/density_model.h"
#include "bayloom/mapspace/sparse/sparse_yaml.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {
namespace {

/// Strides and dilations.
constexpr int64_t kMaxCoefficient = 1000000;
/// One for every index of every tensor.
constexpr int kMaxCoefficients = 100;
constexpr int kMaxTensorWordBits = 4096;

class ProblemReader {
 public:
  explicit ProblemReader(const yaml::YamlValue& problem)
      : shape_(problem.At("shape")), instance_(problem.Find("instance").value_or(problem)) {}

  Problem Read() {
    if (!shape_.IsMap()) {
      shape_.Fail("shapes by name are not known here; write dimensions and data-spaces out");
    }
    if (const auto name = shape_.Find("name")) problem_.name = name->Name();
    const yaml::YamlValue dimensions = shape_.At("dimensions");
    problem_.dimensions = dimensions.Names();
    CheckCount(dimensions, problem_.dimensions.size(), kMaxDimensions, "dimensions");
    for (const std::string& dimension : problem_.dimensions) {
      problem_.bounds.push_back(instance_.At(dimension).IntAtLeast(1));
    }
    ReadCoefficients();
    const yaml::YamlValue spaces = shape_.AtAny({"data-spaces", "data_spaces"});
    const std::vector<yaml::YamlValue> items = spaces.Items();
    CheckCount(spaces, items.size(), kMaxTensors, "tensors");
    for (const yaml::YamlValue& space : items) problem_.tensors.push_back(ReadTensor(space));
    ReadDensities();
    yaml::WithPlace(shape_, [&] { CheckProblem(problem_); });
    return std::move(problem_);
  }

 private:
  static void CheckCount(const yaml::YamlValue& list, size_t count, int limit,
                         std::string_view what) {
    if (count <= static_cast<size_t>(limit)) return;
    list.Fail(fmt::format("there are {} {}; at most {} are possible", count, what, limit));
  }

  void ReadCoefficients() {
    const auto list = shape_.Find("coefficients");
    if (!list) return;
    const std::vector<yaml::YamlValue> items = list->Items();
    CheckCount(*list, items.size(), kMaxCoefficients, "coefficients");
    for (const yaml::YamlValue& item : items) {
      const std::string name = item.At("name").Name();
      const auto given = instance_.Find(name);
      const yaml::YamlValue value = given ? *given : item.At("default");
      coefficients_[name] = value.IntWithin(1, kMaxCoefficient);
    }
  }

  void ReadDensities() {
    if (const auto common = instance_.FindAny({"commonDensity", "common_density"})) {
      for (DataSpace& tensor : problem_.tensors) tensor.density = ReadDensity(*common);
    }
    const auto densities = instance_.Find("densities");
    if (!densities) return;
    for (const auto& [name, value] : densities->Entries()) {
      const int tensor = problem_.TensorNamed(name);
      if (tensor < 0) value.Fail("there is no tensor '" + base::SingleLine(name) + "'");
      problem_.tensors[tensor].density = ReadDensity(value);
    }
  }

  DataSpace ReadTensor(const yaml::YamlValue& space) const {
    DataSpace tensor;
    tensor.name = space.At("name").Name();
    if (const auto flag = space.FindAny({"read-write", "read_write"})) {
      tensor.read_write = flag->Bool();
    }
    if (const auto bits = space.FindAny({"word-bits", "word_bits"})) {
      tensor.word_bits = static_cast<int>(bits->IntWithin(1, kMaxTensorWordBits));
    }
    for (const yaml::YamlValue& axis : space.At("projection").Items()) {
      std::vector<AxisTerm>& terms = tensor.axes.emplace_back();
      for (const yaml::YamlValue& term : axis.Items()) terms.push_back(ReadTerm(term));
    }
    return tensor;
  }

  /// [dimension] or [dimension, coefficient].
  AxisTerm ReadTerm(const yaml::YamlValue& value) const {
    const std::vector<std::string> words = value.Names();
    if (words.empty() || words.size() > 2) {
      value.Fail("a term is [dimension] or [dimension, coefficient]");
    }
    AxisTerm term{problem_.DimensionNamed(words[0])};
    if (term.dimension < 0) value.Fail("there is no dimension '" + words[0] + "'");
    if (words.size() == 2) {
      const auto found = coefficients_.find(words[1]);
      if (found == coefficients_.end()) {
        value.Fail("there is no coefficient '" + words[1] + "'");
      }
      term.coefficient = found->second;
    }
    return term;
  }

  yaml::YamlValue shape_;
  yaml::YamlValue instance_;
  Problem problem_;
  std::map<std::string, int64_t> coefficients_;
};

}  // namespace

Problem ReadProblem(const std::string& file, const yaml::TemplateVariables& variables) {
  Problem problem = ProblemReader(yaml::LoadTemplate(file, variables).At("problem")).Read();
  for (DataSpace& tensor : problem.tensors) {
    if (tensor.density.kind != Density::Kind::kRecorded) continue;
    tensor.density.file =
        (std::filesystem::path(file).parent_path() / tensor.density.file).lexically_normal();
  }
  ReadRecordedNonzeros(problem);
  return problem;
}

Problem ParseProblemYaml(const std::string& text, const std::string& file) {
  return ProblemReader(yaml::YamlValue::Parse(text, file).At("problem")).Read();
}

namespace {

/// A term's coefficient has a name of its own in the file.
std::string CoefficientName(const Problem& problem, const AxisTerm& term) {
  return problem.dimensions[term.dimension] + "step";
}

/// As one of `densities:`; of dense tensors nothing.
std::string PrintDensity(const DataSpace& tensor) {
  const Density& density = tensor.density;
  switch (density.kind) {
    case Density::Kind::kDense:
      return "";
    case Density::Kind::kBlocked:
      return fmt::format("    {}: \"{}\"\n", tensor.name, density.Describe());
    case Density::Kind::kBanded:
      return fmt::format("    {}:\n      distribution: banded\n      band_width: {}\n", tensor.name,
                         density.band_width);
    case Density::Kind::kRecorded:
      return fmt::format(
          "    {}:\n      distribution: real-data\n      data_file_path: {}\n      digest: "
          "\"{:x}\"\n",
          tensor.name, nlohmann::json(density.file).dump(), density.digest);
    case Density::Kind::kFixedStructured:
    case Density::Kind::kHypergeometric:
      break;
  }
  const bool is_fixed = density.kind == Density::Kind::kFixedStructured;
  std::string text =
      fmt::format("    {}:\n      distribution: {}\n      density: {}\n", tensor.name,
                  is_fixed ? "fixed-structured" : "hypergeometric", density.fraction);
  if (density.whole_words != 0) text += fmt::format("      whole-words: {}\n", density.whole_words);
  return text;
}

}  // namespace

std::string PrintProblemYaml(const Problem& problem) {
  std::string spaces;
  std::map<std::string, int64_t> coefficients;
  for (const DataSpace& tensor : problem.tensors) {
    spaces += fmt::format("    - name: {}\n      projection:\n", tensor.name);
    for (const std::vector<AxisTerm>& axis : tensor.axes) {
      std::string terms;
      for (const AxisTerm& term : axis) {
        std::string name;
        if (term.coefficient != 1) {
          name = CoefficientName(problem, term);
          coefficients[name] = term.coefficient;
        }
        terms += fmt::format("{}[{}{}]", terms.empty() ? "" : ", ",
                             problem.dimensions[term.dimension], name.empty() ? "" : ", " + name);
      }
      spaces += fmt::format("      - [{}]\n", terms);
    }
    if (tensor.read_write) spaces += "      read-write: True\n";
    if (tensor.word_bits != 0) spaces += fmt::format("      word-bits: {}\n", tensor.word_bits);
  }
  std::string text = fmt::format("problem:\n  shape:\n    name: {}\n    dimensions: [ {} ]\n",
                                 problem.name, fmt::join(problem.dimensions, ", "));
  if (!coefficients.empty()) text += "    coefficients:\n";
  for (const auto& [name, value] : coefficients) {
    text += fmt::format("    - name: {}\n      default: {}\n", name, value);
  }
  text += "    data-spaces:\n" + spaces;
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    text += fmt::format("  {}: {}\n", problem.dimensions[d], problem.bounds[d]);
  }
  std::string densities;
  for (const DataSpace& tensor : problem.tensors) densities += PrintDensity(tensor);
  if (!densities.empty()) text += "  densities:\n" + densities;
  return text;
}

}  // namespace bayloom::mapspace
