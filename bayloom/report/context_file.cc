// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <variant>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/report/context_condition.h"
#include "bayloom/report/context_report.h"

namespace bayloom::report {
namespace {

using search::ContextTable;
using search::ContextTree;
using Json = nlohmann::json;

bool IsIdentifier(const std::string& name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, is_word);
}

/// A name of a function for the scenario's name.
std::string FunctionName(const std::string& name) {
  std::string made;
  for (const char c : name) made += IsIdentifier(std::string("_") + c) ? c : '_';
  if (!IsIdentifier(made)) made = "_" + made;
  return made;
}

/// A text in double quotes, as C, Python and JSON have it.
std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string NumberText(double number) {
  return number == std::floor(number) && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{}", number);
}

void RequireIdentifiers(const ContextTable& table, const std::string& form) {
  for (int i = 0; i < table.joint->size(); ++i) {
    const std::string& name = table.joint->parameter(i).name();
    if (!IsIdentifier(name)) {
      throw InputError(fmt::format("'{}' is no name in {}; write the table as .json",
                                   base::SingleLine(name), form));
    }
  }
}

/// What is said of the tree at the top of a file, in lines.
std::vector<std::string> Heading(const ContextTable& table, const ContextTree& tree) {
  return {fmt::format("Configurations of '{}' by {}, found by bayloom search ({}).",
                      base::SingleLine(table.name), fmt::join(table.contexts, ", "),
                      base::SingleLine(table.objective.name)),
          LossText(table, tree) + "."};
}

/// Writes conditions and leaves of a tree in one language.
class TreeWriter {
 public:
  TreeWriter(const ContextTable& table, const ContextTree& tree) : table_(table), tree_(tree) {}
  virtual ~TreeWriter() = default;

 protected:
  void WriteNode(int number, int depth) {
    const ContextTree::Node& node = tree_.nodes[number];
    if (node.context < 0) {
      WriteLeaf(table_.candidates[node.candidate].configuration, depth);
      return;
    }
    WriteIf(ConditionOf(table_, node), depth);
    WriteNode(node.low, depth + 1);
    WriteElse(depth);
    WriteNode(node.high, depth + 1);
    WriteEnd(depth);
  }
  virtual void WriteLeaf(const space::Configuration& configuration, int depth) = 0;
  virtual void WriteIf(const ContextCondition& condition, int depth) = 0;
  virtual void WriteElse(int depth) = 0;
  virtual void WriteEnd(int depth) = 0;

  const ContextTable& table_;  // NOLINT
  const ContextTree& tree_;    // NOLINT
  std::string text_;           // NOLINT
};

/// Macros for the parameters, by conditions of the preprocessor.
class HeaderWriter final : public TreeWriter {
 public:
  using TreeWriter::TreeWriter;

  std::string Write() {
    RequireIdentifiers(table_, "C");
    for (const std::string& line : Heading(table_, tree_)) text_ += "// " + line + "\n";
    text_ += "#pragma once\n\n";
    for (size_t i = 0; i < table_.contexts.size(); ++i) {
      const std::string& name = table_.contexts[i];
      if (table_.ContextParameter(i).kind() != space::ParameterKind::kOrdinal) {
        throw InputError(
            fmt::format("a header compares whole numbers, and '{}' has names; write the table as "
                        ".c, .py or .json",
                        base::SingleLine(name)));
      }
      text_ += fmt::format("#ifndef {0}\n#error \"define {0}\"\n#endif\n", name);
    }
    WriteNode(0, 0);
    return text_;
  }

 private:
  static std::string Indent(int depth) {
    return "#" + std::string(2 * static_cast<size_t>(depth), ' ');
  }

  void WriteLeaf(const space::Configuration& configuration, int depth) override {
    for (int i = 0; i < table_.parameters(); ++i) {
      if (!table_.joint->IsActive(configuration, i)) continue;
      text_ += fmt::format("{}define {} {}\n", Indent(depth), table_.joint->parameter(i).name(),
                           base::SingleLine(table_.joint->TextOf(configuration, i)));
    }
  }
  void WriteIf(const ContextCondition& condition, int depth) override {
    if (*condition.below != std::floor(*condition.below)) {
      throw InputError(fmt::format(
          "a header compares whole numbers, and '{}' has others; write the table as .c, .py or "
          ".json",
          base::SingleLine(condition.context)));
    }
    text_ += fmt::format("{}if {} < {}\n", Indent(depth), condition.context,
                         NumberText(*condition.below));
  }
  void WriteElse(int depth) override { text_ += Indent(depth) + "else\n"; }
  void WriteEnd(int depth) override { text_ += Indent(depth) + "endif\n"; }
};

/// A function of C.
class CWriter final : public TreeWriter {
 public:
  using TreeWriter::TreeWriter;

  std::string Write() {
    RequireIdentifiers(table_, "C");
    const std::string name = FunctionName(table_.name);
    for (const std::string& line : Heading(table_, tree_)) text_ += "// " + line + "\n";
    text_ += fmt::format("#include <string.h>\n\nstruct {}_configuration {{\n", name);
    for (int i = 0; i < table_.parameters(); ++i) {
      text_ += "  " + Declaration(i) + ";";
      text_ +=
          table_.joint->conditions().IsConditional(i) ? "  // 0 where it has no effect\n" : "\n";
    }
    std::vector<std::string> arguments;
    for (size_t i = 0; i < table_.contexts.size(); ++i) {
      const bool is_number = table_.ContextParameter(i).kind() == space::ParameterKind::kOrdinal;
      arguments.push_back((is_number ? "double " : "const char *") + table_.contexts[i]);
    }
    text_ += fmt::format("}};\n\nstatic inline struct {0}_configuration {0}({1}) {{\n", name,
                         fmt::join(arguments, ", "));
    for (const std::string& context : table_.contexts)
      text_ += fmt::format("  (void){};\n", context);
    type_ = "struct " + name + "_configuration";
    WriteNode(0, 1);
    return text_ + "}\n";
  }

 private:
  std::string Declaration(int parameter) const {
    const space::Parameter& declared = table_.joint->parameter(parameter);
    if (declared.ElementCount() > 0) {
      return fmt::format("long {}[{}]", declared.name(), declared.ElementCount());
    }
    const space::Value value = declared.ValueAt(declared.AtPosition(0));
    if (std::holds_alternative<std::string>(value)) {
      return fmt::format("const char *{}", declared.name());
    }
    return fmt::format("{} {}", std::holds_alternative<int64_t>(value) ? "long" : "double",
                       declared.name());
  }
  static std::string ValueText(const space::Value& value) {
    if (const auto* const text = std::get_if<std::string>(&value)) return Quoted(*text);
    if (const auto* const items = std::get_if<std::vector<int64_t>>(&value)) {
      return fmt::format("{{{}}}", fmt::join(*items, ", "));
    }
    return space::ToString(value);
  }
  static std::string Indent(int depth) { return std::string(2 * static_cast<size_t>(depth), ' '); }

  void WriteLeaf(const space::Configuration& configuration, int depth) override {
    std::vector<std::string> fields;
    for (int i = 0; i < table_.parameters(); ++i) {
      if (!table_.joint->IsActive(configuration, i)) continue;
      fields.push_back(fmt::format(".{} = {}", table_.joint->parameter(i).name(),
                                   ValueText(table_.joint->ValueOf(configuration, i))));
    }
    text_ += fmt::format("{}return ({}){{{}}};\n", Indent(depth), type_, fmt::join(fields, ", "));
  }
  void WriteIf(const ContextCondition& condition, int depth) override {
    std::string test;
    if (condition.below) {
      test = fmt::format("{} < {}", condition.context, NumberText(*condition.below));
    } else {
      std::vector<std::string> equal;
      for (const std::string& name : condition.names) {
        equal.push_back(fmt::format("!strcmp({}, {})", condition.context, Quoted(name)));
      }
      test = fmt::format("{}", fmt::join(equal, " || "));
    }
    text_ += fmt::format("{}if ({}) {{\n", Indent(depth), test);
  }
  void WriteElse(int depth) override { text_ += Indent(depth) + "} else {\n"; }
  void WriteEnd(int depth) override { text_ += Indent(depth) + "}\n"; }

  std::string type_;
};

/// A function of Python.
class PythonWriter final : public TreeWriter {
 public:
  using TreeWriter::TreeWriter;

  std::string Write() {
    for (const std::string& context : table_.contexts) {
      if (!IsIdentifier(context)) {
        throw InputError(fmt::format("'{}' is no name in Python; write the table as .json",
                                     base::SingleLine(context)));
      }
    }
    text_ = fmt::format("def {}({}):\n    \"\"\"", FunctionName(table_.name),
                        fmt::join(table_.contexts, ", "));
    const std::vector<std::string> lines = Heading(table_, tree_);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string quoted = Quoted(lines[i]);
      text_ += (i == 0 ? "" : "\n\n    ") + quoted.substr(1, quoted.size() - 2);
    }
    text_ += lines.size() > 1 ? "\n    \"\"\"\n" : "\"\"\"\n";
    WriteNode(0, 1);
    return text_;
  }

 private:
  static std::string Indent(int depth) { return std::string(4 * static_cast<size_t>(depth), ' '); }

  void WriteLeaf(const space::Configuration& configuration, int depth) override {
    // Texts, numbers and lists of these are written alike in JSON and Python.
    text_ += fmt::format("{}return {}\n", Indent(depth), table_.ValuesOf(configuration).dump());
  }
  void WriteIf(const ContextCondition& condition, int depth) override {
    if (condition.below) {
      text_ += fmt::format("{}if {} < {}:\n", Indent(depth), condition.context,
                           NumberText(*condition.below));
    } else {
      text_ += fmt::format("{}if {} in {}:\n", Indent(depth), condition.context,
                           Json(condition.names).dump());
    }
  }
  void WriteElse(int depth) override { text_ += Indent(depth) + "else:\n"; }
  void WriteEnd(int) override {}
};

}  // namespace

ContextCondition ConditionOf(const ContextTable& table, const ContextTree::Node& node) {
  const auto context = static_cast<size_t>(node.context);
  const space::Parameter& parameter = table.ContextParameter(context);
  ContextCondition condition = {.context = table.contexts[context], .below = {}};
  if (parameter.kind() != space::ParameterKind::kOrdinal) {
    for (int i = 0; i < node.first_high; ++i) {
      condition.names.push_back(space::ToString(parameter.ValueAt(i)));
    }
    return condition;
  }
  const double low = parameter.NumberAt(node.first_high - 1);
  const double high = parameter.NumberAt(node.first_high);
  double between = low > 0 ? std::sqrt(low * high) : (low + high) / 2;
  const bool is_whole = low == std::floor(low) && high == std::floor(high);
  if (is_whole) between = std::ceil(between);
  condition.below = between;
  return condition;
}

void CheckContextFile(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".json" || ending == ".h" || ending == ".c" || ending == ".py") return;
  throw InputError(
      fmt::format("'{}': expected a file .json, .h, .c or .py", base::SingleLine(path, 200)));
}

std::string ContextFile(const ContextTable& table, const ContextTree& tree,
                        const std::string& path) {
  CheckContextFile(path);
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".json") {
    return ContextJson(table, tree).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (ending == ".h") return HeaderWriter(table, tree).Write();
  if (ending == ".c") return CWriter(table, tree).Write();
  return PythonWriter(table, tree).Write();
}

}  // namespace bayloom::report
