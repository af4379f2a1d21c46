// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/search/command_template.h"
#include "bayloom/space/value.h"
#include "bayloom/tensor/dtype.h"

namespace bayloom::search {

/// An argument of a kernel. Numbers are expressions (space::EvaluateExpression) over the sizes; of
/// scalars and local memory also over the parameters.
struct KernelArgument {
  enum class Role : uint8_t {
    kIn,      ///< an array that is only read
    kOut,     ///< an array that is only written
    kInOut,   ///< an array that is read and written
    kScalar,  ///< a number, passed by value
    kLocal,   ///< local memory of a group of work items (OpenCL)
  };
  enum class Fill : uint8_t {
    kRandom,  ///< uniform from `low` to `high`, integers including both
    kRange,   ///< 0, 1, 2, ...
    kNumber,  ///< `low` everywhere
    kFile,    ///< what `file` holds: NumPy's .npy, or bytes as they are in memory
  };

  std::string text;  ///< as it was declared, for messages
  Role role = Role::kIn;
  std::string name;
  std::string type;  ///< as it was declared: "unsigned int"
  tensor::DType dtype = tensor::DType::kFloat32;
  std::vector<std::string> shape;  ///< of an array, row-major; of local memory
  Fill fill = Fill::kRandom;
  std::string low, high;  ///< of a scalar, `low` is its value
  std::string file;

  bool IsArray() const { return role == Role::kIn || role == Role::kOut || role == Role::kInOut; }
};

/// Reads a declaration such as
///
///     in float a[n][n]                      inout double x[n] = range
///     out float c[n, n]                     in int index[n] = random(0, n - 1)
///     int n                                 in float w[64] = file(weights.npy)
///     float alpha = 0.5                     local float tile[block_size_x]
///
/// Without `=` an `in` or `inout` array is random, a scalar the size or the parameter of its name.
Result<KernelArgument> ParseKernelArgument(std::string_view text);

/// A user's kernel: what is compiled, called, compared and timed for each
/// configuration. docs/kernels.md is its manual.
struct KernelDefinition {
  enum class Language : uint8_t { kC, kCpp, kFortran, kOpenCl };
  /// Whose results are those of all configurations.
  enum class Reference : uint8_t {
    kFirst,          ///< the default configuration's, or those of the first that runs
    kNone,           ///< there are none: nothing is compared
    kFunction,       ///< another function of the same arguments
    kConfiguration,  ///< a configuration's
    kFiles,          ///< files'
  };

  Language language = Language::kC;
  std::string source;    ///< path
  std::string function;  ///< or name of the kernel
  std::vector<KernelArgument> arguments;
  /// What the kernel is timed with, one after the other; at least one, which may be empty.
  std::vector<std::map<std::string, space::Value>> sizes = {{}};

  // How it is compiled.
  std::string compiler;  ///< empty: CC, CXX or FC of the environment, else cc, c++ or gfortran
  std::vector<TextTemplate> flags;
  /// Macros by name, as expressions over sizes and parameters.
  std::vector<std::pair<std::string, std::string>> defines;
  bool defines_parameters = true;  ///< ... and every parameter that is not used otherwise

  // How an OpenCL kernel is launched, in Kernel Tuner's terms.
  std::vector<std::string> problem_size;  ///< expressions, up to three
  std::array<std::string, 3> block_size_names = {"block_size_x", "block_size_y", "block_size_z"};
  /// Of each dimension the expressions that divide the problem's size, rounded up, to the number of
  /// groups; nullopt: the size of the group, if it is a parameter.
  std::array<std::optional<std::vector<std::string>>, 3> grid_divisors;
  int platform = 0, device = 0;

  // What its results are compared with.
  Reference reference = Reference::kFirst;
  Language reference_language = Language::kC;
  std::string reference_source, reference_function;             ///< kFunction
  std::map<std::string, space::Value> reference_configuration;  ///< kConfiguration
  std::map<std::string, std::string> reference_files;           ///< kFiles: path by argument
  /// |actual - expected| <= absolute + relative * |expected|; nullopt: what reordered sums of the
  /// arguments' type may differ by.
  std::optional<double> absolute, relative;

  // How it is timed.
  double time_seconds = 0.03;  ///< of all runs of a trial
  int min_repeats = 7;
  bool flush_caches = false;
  double returned_unit = 0;  ///< the function returns its time in so many seconds; 0: it does not
  uint64_t data_seed = 1;

  bool IsOnHost() const { return language != Language::kOpenCl; }
};

/// The language of a source by its file's name; nullopt for other files.
std::optional<KernelDefinition::Language> KernelLanguageOf(const std::string& path);

}  // namespace bayloom::search
