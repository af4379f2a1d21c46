// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "bayloom/base/single_line.h"
#include "bayloom/search/comma_list.h"
#include "bayloom/search/kernel_definition.h"

namespace bayloom::search {
namespace {

using tensor::DType;

/// Types as C, Fortran's iso_c_binding, OpenCL and NumPy call them.
constexpr auto kTypes = std::to_array<std::pair<std::string_view, DType>>({
    {"bool", DType::kBool},
    {"_Bool", DType::kBool},
    {"char", DType::kInt8},
    {"signed char", DType::kInt8},
    {"int8_t", DType::kInt8},
    {"int8", DType::kInt8},
    {"short", DType::kInt16},
    {"int16_t", DType::kInt16},
    {"int16", DType::kInt16},
    {"int", DType::kInt32},
    {"int32_t", DType::kInt32},
    {"int32", DType::kInt32},
    {"long", DType::kInt64},
    {"long long", DType::kInt64},
    {"int64_t", DType::kInt64},
    {"int64", DType::kInt64},
    {"ptrdiff_t", DType::kInt64},
    {"unsigned char", DType::kUInt8},
    {"uchar", DType::kUInt8},
    {"uint8_t", DType::kUInt8},
    {"uint8", DType::kUInt8},
    {"unsigned short", DType::kUInt16},
    {"ushort", DType::kUInt16},
    {"uint16_t", DType::kUInt16},
    {"uint16", DType::kUInt16},
    {"unsigned", DType::kUInt32},
    {"unsigned int", DType::kUInt32},
    {"uint", DType::kUInt32},
    {"uint32_t", DType::kUInt32},
    {"uint32", DType::kUInt32},
    {"unsigned long", DType::kUInt64},
    {"unsigned long long", DType::kUInt64},
    {"ulong", DType::kUInt64},
    {"size_t", DType::kUInt64},
    {"uint64_t", DType::kUInt64},
    {"uint64", DType::kUInt64},
    {"_Float16", DType::kFloat16},
    {"half", DType::kFloat16},
    {"float16", DType::kFloat16},
    {"float", DType::kFloat32},
    {"float32", DType::kFloat32},
    {"double", DType::kFloat64},
    {"float64", DType::kFloat64},
});

bool IsName(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

Error Wrong(std::string_view text, std::string_view why) {
  return Error{fmt::format("'{}': {}", base::SingleLine(text), why)};
}

/// "[n][2 * m]" or "[n, 2 * m]".
Result<std::vector<std::string>> ParseShape(std::string_view text, std::string_view whole) {
  std::vector<std::string> shape;
  for (std::string rest = Trimmed(text); !rest.empty();) {
    const size_t end = rest.find(']');
    if (rest[0] != '[' || end == std::string::npos) {
      return Wrong(whole, "expected a shape such as [n][m] behind the name");
    }
    for (std::string& extent : SplitAtCommas(std::string_view(rest).substr(1, end - 1))) {
      if (extent.empty()) return Wrong(whole, "a dimension has no length");
      shape.push_back(std::move(extent));
    }
    rest = Trimmed(std::string_view(rest).substr(end + 1));
  }
  return shape;
}

/// Role, type and name: "in const float* a".
Status ParseHead(std::string head, bool is_array, KernelArgument& argument) {
  std::ranges::replace(head, '*', ' ');
  std::vector<std::string> words;
  for (size_t begin = 0; begin < head.size();) {
    const size_t end = std::min(head.find(' ', begin), head.size());
    if (end > begin) words.push_back(head.substr(begin, end - begin));
    begin = end + 1;
  }
  if (words.size() < 2) return Wrong(argument.text, "expected a type and a name, such as 'int n'");
  argument.name = words.back();
  words.pop_back();
  if (!IsName(argument.name)) {
    return Wrong(argument.text, fmt::format("'{}' is no name", argument.name));
  }
  bool has_role = true;
  if (words[0] == "in") {
    argument.role = KernelArgument::Role::kIn;
  } else if (words[0] == "out") {
    argument.role = KernelArgument::Role::kOut;
  } else if (words[0] == "inout") {
    argument.role = KernelArgument::Role::kInOut;
  } else if (words[0] == "local") {
    argument.role = KernelArgument::Role::kLocal;
  } else {
    has_role = false;
  }
  if (has_role) words.erase(words.begin());
  const bool is_const = std::erase(words, "const") > 0;
  if (is_array && !has_role && !is_const) {
    return Wrong(argument.text, "say whether the array is 'in', 'out' or 'inout'");
  }
  if (!is_array) {
    if (has_role) {
      return Wrong(argument.text,
                   "an array needs a shape, such as [n]; a number has no 'in' or 'out'");
    }
    argument.role = KernelArgument::Role::kScalar;
  }
  argument.type = fmt::format("{}", fmt::join(words, " "));
  const auto known = std::ranges::find(kTypes, argument.type, &decltype(kTypes)::value_type::first);
  if (known == kTypes.end()) {
    return Wrong(argument.text,
                 fmt::format("'{}' is no type that is known here, such as float, double, int or "
                             "uint8_t",
                             argument.type));
  }
  argument.dtype = known->second;
  return Ok();
}

/// "random(0, 1)" of a function of that name: what stands between the brackets.
std::optional<std::string> CallOf(std::string_view function, std::string_view text) {
  if (!text.starts_with(function)) return std::nullopt;
  const std::string rest = Trimmed(text.substr(function.size()));
  if (rest.size() < 2 || rest.front() != '(' || rest.back() != ')') return std::nullopt;
  return Trimmed(std::string_view(rest).substr(1, rest.size() - 2));
}

/// What stands behind `=`.
Status ParseFill(const std::string& fill, KernelArgument& argument) {
  using Fill = KernelArgument::Fill;
  if (fill.empty()) return Wrong(argument.text, "expected a value behind '='");
  const bool has_content =
      argument.role == KernelArgument::Role::kIn || argument.role == KernelArgument::Role::kInOut;
  if (!has_content && argument.role != KernelArgument::Role::kScalar) {
    return Wrong(argument.text, "it has no content before a run; 'inout' arrays have");
  }
  if (!argument.IsArray()) {
    argument.low = fill;
    return Ok();
  }
  if (const auto range = CallOf("random", fill)) {
    const std::vector<std::string> ends = SplitAtCommas(*range);
    if (ends.size() != 2) return Wrong(argument.text, "expected two ends, random(lowest, highest)");
    argument.low = ends[0];
    argument.high = ends[1];
  } else if (const auto file = CallOf("file", fill)) {
    argument.fill = Fill::kFile;
    argument.file = *file;
    if (file->empty()) return Wrong(argument.text, "expected a path, file(weights.npy)");
  } else if (fill == "range") {
    argument.fill = Fill::kRange;
  } else if (fill != "random") {
    argument.fill = Fill::kNumber;
    argument.low = fill == "zeros" ? "0" : fill;
  }
  return Ok();
}

}  // namespace

Result<KernelArgument> ParseKernelArgument(std::string_view text) {
  KernelArgument argument;
  argument.text = Trimmed(text);
  const size_t equals = std::min(text.find('='), text.size());
  const std::string declaration = Trimmed(text.substr(0, equals));
  const size_t bracket = std::min(declaration.find('['), declaration.size());
  const Status head =
      ParseHead(declaration.substr(0, bracket), bracket < declaration.size(), argument);
  if (!head) return head.error();
  Result<std::vector<std::string>> shape =
      ParseShape(std::string_view(declaration).substr(bracket), argument.text);
  if (!shape) return shape.error();
  argument.shape = *std::move(shape);
  if (argument.role == KernelArgument::Role::kScalar) argument.low = argument.name;
  if (equals < text.size()) {
    const Status fill = ParseFill(Trimmed(text.substr(equals + 1)), argument);
    if (!fill) return fill.error();
  }
  return argument;
}

}  // namespace bayloom::search
