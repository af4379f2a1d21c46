// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {
namespace {

using Language = KernelDefinition::Language;

constexpr double kMaxSeconds = 3600;
constexpr int kMaxRepeats = 1000;
constexpr int kMaxDimensions = 3;

/// A kernel's time in its objective's unit: the seconds of one.
double UnitOf(std::string_view name) {
  if (name == "seconds" || name == "s") return 1;
  if (name == "milliseconds" || name == "ms") return 1e-3;
  if (name == "microseconds" || name == "us") return 1e-6;
  return 0;
}

Language ReadLanguage(const yaml::YamlValue& field, const std::string& source,
                      const yaml::YamlValue& source_field) {
  if (const auto named = field.Find("language")) {
    const std::string name = named->Text();
    if (name == "c") return Language::kC;
    if (name == "c++") return Language::kCpp;
    if (name == "fortran") return Language::kFortran;
    if (name == "opencl") return Language::kOpenCl;
    named->Fail(
        fmt::format("expected c, c++, fortran or opencl, found '{}'", base::SingleLine(name)));
  }
  const std::optional<Language> language = KernelLanguageOf(source);
  if (!language) {
    source_field.Fail(
        "its language is not known by the file's name: expected .c, .cc, .cpp, .f90 or .cl, or a "
        "'language'");
  }
  return *language;
}

std::vector<KernelArgument> ReadArguments(const yaml::YamlValue& field) {
  std::vector<KernelArgument> arguments;
  std::set<std::string> names;
  for (const yaml::YamlValue& item : field.Items()) {
    Result<KernelArgument> argument = ParseKernelArgument(item.Text());
    if (!argument) item.Fail(argument.error().message);
    if (!names.insert(argument->name).second) {
      item.Fail(fmt::format("there is an argument '{}' already", argument->name));
    }
    arguments.push_back(*std::move(argument));
  }
  if (arguments.empty()) field.Fail("expected at least one argument");
  return arguments;
}

std::map<std::string, space::Value> ReadSize(const yaml::YamlValue& field,
                                             const space::Space& space) {
  std::map<std::string, space::Value> size;
  for (const auto& [name, number] : field.Entries()) {
    if (space.IndexOf(name) >= 0) number.Fail("there is a parameter of this name");
    const space::Value value = ReadValue(number);
    if (std::holds_alternative<std::string>(value)) number.Fail("expected a number");
    size[name] = value;
  }
  return size;
}

void ReadSizes(const yaml::YamlValue& field, const space::Space& space, KernelDefinition& kernel) {
  kernel.sizes.clear();
  if (field.IsMap()) {
    kernel.sizes.push_back(ReadSize(field, space));
    return;
  }
  for (const yaml::YamlValue& item : field.Items()) {
    kernel.sizes.push_back(ReadSize(item, space));
    const auto names = [](const auto& size) {
      std::vector<std::string> found;
      for (const auto& [name, value] : size) found.push_back(name);
      return found;
    };
    if (names(kernel.sizes.back()) != names(kernel.sizes.front())) {
      item.Fail("expected the same names as in the first sizes");
    }
  }
  if (kernel.sizes.empty()) field.Fail("expected at least one size");
}

/// A text, or a number that becomes one.
std::vector<std::string> Expressions(const yaml::YamlValue& field, size_t max) {
  std::vector<std::string> expressions = field.Texts();
  if (expressions.empty() || expressions.size() > max) {
    field.Fail(fmt::format("expected 1 to {} expressions", max));
  }
  return expressions;
}

void ReadLaunch(const yaml::YamlValue& field, KernelDefinition& kernel) {
  constexpr std::array<const char*, kMaxDimensions> kDivisors = {"grid_div_x", "grid_div_y",
                                                                 "grid_div_z"};
  if (kernel.IsOnHost()) {
    for (const char* key : {"problem_size", "block_size_names", "platform", "device", kDivisors[0],
                            kDivisors[1], kDivisors[2]}) {
      if (const auto found = field.Find(key)) found->Fail("it is for OpenCL kernels");
    }
    return;
  }
  kernel.problem_size = Expressions(field.At("problem_size"), kMaxDimensions);
  if (const auto names = field.Find("block_size_names")) {
    const std::vector<std::string> given = Expressions(*names, kMaxDimensions);
    std::ranges::copy(given, kernel.block_size_names.begin());
  }
  for (size_t d = 0; d < kMaxDimensions; ++d) {
    if (const auto divisors = field.Find(kDivisors[d])) {
      kernel.grid_divisors[d] = divisors->Texts();
    }
  }
  if (const auto platform = field.Find("platform")) {
    kernel.platform = static_cast<int>(platform->IntWithin(0, 1000));
  }
  if (const auto device = field.Find("device")) {
    kernel.device = static_cast<int>(device->IntWithin(0, 1000));
  }
}

/// "naive", {source: naive.c, function: naive}, {configuration: {...}}, {files: {c: c.npy}},
/// "none".
void ReadReference(const yaml::YamlValue& field, const Scenario& scenario,
                   KernelDefinition& kernel) {
  const std::string& here = scenario.evaluator.here;
  const auto is_function = [&](const yaml::YamlValue& place) {
    kernel.reference = KernelDefinition::Reference::kFunction;
    if (kernel.reference_language == Language::kOpenCl) {
      place.Fail("expected a function of C, C++ or Fortran");
    }
  };
  kernel.reference_source = kernel.source;
  kernel.reference_language = kernel.language;
  if (!field.IsMap()) {
    if (field.Text() == "none") {
      kernel.reference = KernelDefinition::Reference::kNone;
      return;
    }
    kernel.reference_function = field.Text();
    return is_function(field);
  }
  field.AllowOnly({"source", "function", "language", "configuration", "files"});
  const auto files = field.Find("files");
  const auto configuration = field.Find("configuration");
  const bool has_function = field.Find("source") || field.Find("function");
  if (files.has_value() + configuration.has_value() + has_function != 1) {
    field.Fail("expected either a function, a configuration or files");
  }
  if (files) {
    kernel.reference = KernelDefinition::Reference::kFiles;
    for (const auto& [name, path] : files->Entries()) {
      const auto argument = std::ranges::find(kernel.arguments, name, &KernelArgument::name);
      const bool is_result = argument != kernel.arguments.end() && argument->IsArray() &&
                             argument->role != KernelArgument::Role::kIn;
      if (!is_result) path.Fail(fmt::format("there is no result '{}'", base::SingleLine(name)));
      kernel.reference_files[name] = PathFrom(here, path.Text());
    }
    if (kernel.sizes.size() > 1) files->Fail("files are for one size");
    return;
  }
  if (configuration) {
    kernel.reference = KernelDefinition::Reference::kConfiguration;
    auto& values = kernel.reference_configuration;
    for (const auto& [name, value] : configuration->Entries()) values[name] = ReadValue(value);
    const Result<space::Configuration> parsed = scenario.space->Parse(values);
    if (!parsed) configuration->Fail(parsed.error().message);
    return;
  }
  if (const auto source = field.Find("source")) {
    kernel.reference_source = PathFrom(here, source->Text());
    kernel.reference_language = ReadLanguage(field, kernel.reference_source, *source);
  }
  const auto function = field.Find("function");
  kernel.reference_function =
      function ? function->Name() : std::filesystem::path(kernel.reference_source).stem().string();
  is_function(field);
}

void ReadTolerance(const yaml::YamlValue& field, KernelDefinition& kernel) {
  constexpr double kMax = std::numeric_limits<double>::max();
  kernel.absolute = kernel.relative = 0;
  if (!field.IsMap()) {
    kernel.relative = field.RealWithin(0, kMax);
    return;
  }
  field.AllowOnly({"absolute", "relative"});
  if (const auto absolute = field.Find("absolute")) kernel.absolute = absolute->RealWithin(0, kMax);
  if (const auto relative = field.Find("relative")) kernel.relative = relative->RealWithin(0, kMax);
}

void ReadTiming(const yaml::YamlValue& field, KernelDefinition& kernel) {
  field.AllowOnly({"time", "repeats", "flush_caches", "returned"});
  if (const auto time = field.Find("time")) {
    kernel.time_seconds = time->Duration();
    if (kernel.time_seconds > kMaxSeconds) time->Fail("expected at most an hour");
  }
  if (const auto repeats = field.Find("repeats")) {
    kernel.min_repeats = static_cast<int>(repeats->IntWithin(1, kMaxRepeats));
  }
  if (const auto flush = field.Find("flush_caches")) kernel.flush_caches = flush->Bool();
  if (const auto returned = field.Find("returned")) {
    if (!kernel.IsOnHost()) returned->Fail("kernels of OpenCL return nothing");
    kernel.returned_unit = UnitOf(returned->Text());
    if (kernel.returned_unit == 0) {
      returned->Fail("expected the unit of the time that the function returns: s, ms or us");
    }
  }
}

/// A kernel has one objective, its time.
void SetObjective(const yaml::YamlValue& field, Scenario& scenario) {
  Objective& objective = scenario.objectives[0];
  if (objective.name == Objective().name) objective.name = "milliseconds";
  const double unit = UnitOf(objective.name);
  if (scenario.objectives.size() > 1 || objective.maximize || unit == 0) {
    field.Fail(
        "a kernel's objective is its time: expected 'minimize: milliseconds', seconds or "
        "microseconds");
  }
  scenario.optimizer_options.objectives = {objective.name};
  scenario.evaluator.answer.fields = {objective.name};
}

/// Whether a parameter or a size has the name.
bool IsNamed(const std::string& name, const KernelDefinition& kernel, const Scenario& scenario) {
  for (int i = 0; i < scenario.space->size(); ++i) {
    if (scenario.space->parameter(i).name() == name) return true;
  }
  return std::ranges::any_of(kernel.sizes, [&](const auto& size) { return size.contains(name); });
}

}  // namespace

double KernelTimeUnit(const Scenario& scenario) { return UnitOf(scenario.objectives[0].name); }

std::optional<Language> KernelLanguageOf(const std::string& path) {
  static const std::map<std::string, Language> known = {
      {".c", Language::kC},         {".cc", Language::kCpp},      {".cpp", Language::kCpp},
      {".cxx", Language::kCpp},     {".f90", Language::kFortran}, {".F90", Language::kFortran},
      {".f95", Language::kFortran}, {".f03", Language::kFortran}, {".f08", Language::kFortran},
      {".f", Language::kFortran},   {".F", Language::kFortran},   {".cl", Language::kOpenCl}};
  const auto found = known.find(std::filesystem::path(path).extension().string());
  if (found == known.end()) return std::nullopt;
  return found->second;
}

void ReadKernel(const yaml::YamlValue& field, Scenario& scenario) {
  field.AllowOnly({"kernel",     "function",   "language",   "arguments",    "sizes",
                   "compiler",   "flags",      "defines",    "problem_size", "block_size_names",
                   "grid_div_x", "grid_div_y", "grid_div_z", "platform",     "device",
                   "reference",  "tolerance",  "timing",     "seed",         "timeout",
                   "memory",     "sandbox"});
  KernelDefinition kernel;
  const yaml::YamlValue source = field.At("kernel");
  kernel.source = PathFrom(scenario.evaluator.here, source.Text());
  kernel.language = ReadLanguage(field, kernel.source, source);
  const auto function = field.Find("function");
  kernel.function =
      function ? function->Text() : std::filesystem::path(kernel.source).stem().string();
  kernel.arguments = ReadArguments(field.At("arguments"));
  if (const auto sizes = field.Find("sizes")) ReadSizes(*sizes, *scenario.space, kernel);
  if (const auto compiler = field.Find("compiler")) {
    if (!kernel.IsOnHost()) compiler->Fail("the driver compiles kernels of OpenCL");
    kernel.compiler = compiler->Text();
  }
  if (const auto flags = field.Find("flags")) {
    kernel.flags = ReadTemplates(*flags, *scenario.space);
  } else if (kernel.IsOnHost()) {
    for (const char* flag : {"-O3", "-march=native"}) {
      kernel.flags.push_back(*TextTemplate::Parse(flag));
    }
  }
  if (const auto defines = field.Find("defines")) {
    kernel.defines_parameters = false;
    for (const auto& [name, value] : defines->Entries()) {
      kernel.defines.emplace_back(name, value.Text());
    }
  }
  ReadLaunch(field, kernel);
  if (const auto reference = field.Find("reference")) ReadReference(*reference, scenario, kernel);
  if (const auto tolerance = field.Find("tolerance")) ReadTolerance(*tolerance, kernel);
  if (const auto timing = field.Find("timing")) ReadTiming(*timing, kernel);
  if (const auto seed = field.Find("seed")) {
    kernel.data_seed =
        static_cast<uint64_t>(seed->IntWithin(0, std::numeric_limits<int64_t>::max()));
  }
  for (KernelArgument& argument : kernel.arguments) {
    if (!argument.file.empty()) {
      argument.file = PathFrom(scenario.evaluator.here, argument.file);
      if (kernel.sizes.size() > 1) field.At("arguments").Fail("files are for one size");
    }
    if (argument.role == KernelArgument::Role::kLocal && kernel.IsOnHost()) {
      field.At("arguments").Fail(fmt::format("'{}': local memory is for OpenCL", argument.text));
    }
    const bool is_own = argument.role == KernelArgument::Role::kScalar &&
                        argument.low == argument.name && !IsNamed(argument.name, kernel, scenario);
    if (is_own) {
      field.At("arguments")
          .Fail(fmt::format("'{}' has no value, and no size and no parameter has its name",
                            argument.text));
    }
  }
  if (std::ranges::none_of(kernel.arguments, &KernelArgument::IsArray)) {
    field.At("arguments").Fail("expected an array, which is what a kernel computes");
  }
  SetObjective(field, scenario);
  scenario.evaluator.kind = EvaluatorKind::kKernel;
  scenario.evaluator.kernel = std::make_shared<const KernelDefinition>(std::move(kernel));
}

}  // namespace bayloom::search
