// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/kernel/call_shim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>
#include <vector>

#include "bayloom/base/file.h"

namespace bayloom::kernel {
namespace {

using search::KernelArgument;
using search::KernelDefinition;
using Language = KernelDefinition::Language;

std::string Lowercase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// A path between quotes.
std::string Quoted(const std::string& path) {
  std::string quoted;
  for (const char c : path) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

/// The types of arguments as the shim's own compiler knows them.
std::string TypeIn(const KernelArgument& argument) {
  static const std::vector<std::pair<std::string, std::string>> kOthers = {
      {"int8", "signed char"},    {"int16", "short"},
      {"int32", "int"},           {"int64", "long long"},
      {"uint8", "unsigned char"}, {"uint16", "unsigned short"},
      {"uint32", "unsigned int"}, {"uint64", "unsigned long long"},
      {"uchar", "unsigned char"}, {"ushort", "unsigned short"},
      {"uint", "unsigned int"},   {"ulong", "unsigned long"},
      {"half", "_Float16"},       {"float16", "_Float16"},
      {"float32", "float"},       {"float64", "double"}};
  for (const auto& [name, type] : kOthers) {
    if (argument.type == name) return type;
  }
  return argument.type;
}

/// In C++, a pointer that becomes one to what the function takes, as void* does in C: vectors where
/// the declaration says float.
constexpr const char* kAnyPointer = R"(
struct BayloomPointer {
  void* to;
  template <typename T> operator T*() const { return (T*)to; }
};
)";

/// The call of a function of C or C++ with unpacked arguments.
std::string CallOf(const std::string& name, const KernelDefinition& kernel, bool is_cpp) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (!kernel.arguments[i].IsArray()) {
      arguments.push_back(fmt::format("*(const {}*)arguments[{}]", TypeIn(kernel.arguments[i]), i));
    } else {
      const std::string pointer = fmt::format("arguments[{}]", i);
      arguments.push_back(is_cpp ? "BayloomPointer{" + pointer + "}" : pointer);
    }
  }
  return fmt::format("{}({})", name, fmt::join(arguments, ", "));
}

std::string BodyOf(const std::string& call, bool returns_time) {
  if (returns_time) return fmt::format("  return {};\n", call);
  return fmt::format("  {};\n  return -1;\n", call);
}

std::string ShimOfC(const KernelFunction& function, const KernelDefinition& kernel) {
  const bool is_cpp = function.language == Language::kCpp;
  return fmt::format("#include \"{}\"\n{}\n{}double {}(void* const* arguments) {{\n{}}}\n",
                     Quoted(function.source), is_cpp ? kAnyPointer : "",
                     is_cpp ? "extern \"C\" " : "", kShimSymbol,
                     BodyOf(CallOf(function.name, kernel, is_cpp), function.returns_time));
}

/// The modules of a source of Fortran, in lower case.
std::vector<std::string> ModulesOf(const std::string& source) {
  static const std::regex kModule(R"(^\s*module\s+([a-z_0-9]+)\s*(!.*)?$)");
  std::vector<std::string> modules;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.size() < 1000 && std::regex_match(line, match, kModule)) modules.push_back(match[1]);
  }
  return modules;
}

/// Whether a source declares the argument with the attribute `value`.
bool IsByValue(const std::string& source, const std::string& name) {
  const std::regex declaration(fmt::format(R"(^[^!]*\bvalue\b[^!]*::.*\b{}\b)", Lowercase(name)));
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 1000 && std::regex_search(line, declaration)) return true;
  }
  return false;
}

/// Under which of its names a procedure of Fortran is in the library, the linker knows: the others
/// are weak symbols without an address.
std::string ShimOfFortran(const KernelFunction& function, const KernelDefinition& kernel) {
  const std::string source = Lowercase(base::ReadFile(function.source));
  std::vector<std::string> types;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    const std::string type = TypeIn(argument);
    const bool by_value = !argument.IsArray() && IsByValue(source, argument.name);
    types.push_back(by_value ? type : "void*");
    arguments.push_back(by_value ? fmt::format("*(const {}*)arguments[{}]", type, i)
                                 : fmt::format("arguments[{}]", i));
  }
  const std::string name = Lowercase(function.name);
  std::vector<std::string> symbols = {function.name, name + "_"};
  for (const std::string& module : ModulesOf(source)) {
    symbols.push_back(fmt::format("__{}_MOD_{}", module, name));
  }
  std::string shim;
  std::string body;
  for (const std::string& symbol : symbols) {
    shim += fmt::format("extern {} {}({}) __attribute__((weak));\n",
                        function.returns_time ? "float" : "void", symbol, fmt::join(types, ", "));
    const std::string call = fmt::format("{}({})", symbol, fmt::join(arguments, ", "));
    body += fmt::format("  if ({}) {{\n{}  }}\n", symbol, BodyOf(call, function.returns_time));
  }
  return fmt::format("{}\ndouble {}(void* const* arguments) {{\n{}  __builtin_trap();\n}}\n", shim,
                     kShimSymbol, body);
}

}  // namespace

std::string ShimOf(const KernelFunction& function, const KernelDefinition& kernel) {
  return function.language == Language::kFortran ? ShimOfFortran(function, kernel)
                                                 : ShimOfC(function, kernel);
}

}  // namespace bayloom::kernel
