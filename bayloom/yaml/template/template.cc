// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/template/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "bayloom/base/file.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/yaml/composed_text.h"
#include "bayloom/yaml/document_check.h"
#include "bayloom/yaml/template/expression.h"
#include "bayloom/yaml/template/files.h"

namespace bayloom::yaml {
namespace {

/// Templates within each other, which include one another.
constexpr int kMaxIncludeDepth = 20;
/// Of all files of a template.
constexpr int kMaxIncludedFiles = 1000;
constexpr size_t kMaxExpressionBytes = 2000;

/// What one template and all that it includes share.
struct Loading {
  TemplateVariables variables;
  std::vector<YamlValue> included = {};
  /// Files that are being rendered, each included by the one before.
  std::vector<std::string> open = {};
  int files = 0;
  size_t bytes = 0;  ///< of all texts
};

/// A piece of a template: text, or what stands between braces.
struct Piece {
  enum class Kind { kText, kExpression, kStatement };
  Kind kind = Kind::kText;
  std::string_view text;
  int64_t line = 1;
};

/// Divides a template into its pieces; comments are left out.
class PieceReader {
 public:
  PieceReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  std::optional<Piece> Next() {
    while (!rest_.empty()) {
      const size_t brace = FindOpening();
      if (brace > 0) return Take(Piece::Kind::kText, brace, 0);
      const char kind = rest_[1];
      const size_t length = FindClosing(kind);
      if (kind == '#') {
        Take(Piece::Kind::kText, length, 0);
        continue;
      }
      return Take(kind == '{' ? Piece::Kind::kExpression : Piece::Kind::kStatement, length, 2);
    }
    return std::nullopt;
  }

 private:
  size_t FindOpening() const {
    constexpr std::string_view kKinds = "{%#";
    size_t at = rest_.find('{');
    while (at < rest_.size() && at + 1 < rest_.size() &&
           kKinds.find(rest_[at + 1]) == std::string_view::npos) {
      at = rest_.find('{', at + 1);
    }
    return at < rest_.size() && at + 1 < rest_.size() ? at : rest_.size();
  }

  /// Where what begins with this brace ends; braces in quotes do not count.
  size_t FindClosing(char kind) const {
    const char closing = kind == '{' ? '}' : kind;
    char quote = 0;
    for (size_t at = 2; at + 1 < rest_.size(); ++at) {
      const char c = rest_[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (kind != '#' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == closing && rest_[at + 1] == '}') {
        return at + 2;
      }
    }
    throw InputError(fmt::format("{}:{}: '{{{}' does not end",
                                 base::SingleLine(file_, base::kMaxPathBytes), line_, kind));
  }

  /// The next bytes, without so many at both ends.
  Piece Take(Piece::Kind kind, size_t length, size_t braces) {
    const std::string_view all = rest_.substr(0, length);
    const Piece piece{kind, all.substr(braces, length - 2 * braces), line_};
    line_ += std::ranges::count(all, '\n');
    rest_.remove_prefix(length);
    return piece;
  }

  std::string_view rest_;
  const std::string& file_;
  int64_t line_ = 1;
};

/// Text with the place of each of its lines.
class Composer {
 public:
  void Append(std::string_view text, const std::shared_ptr<const std::string>& file, int64_t line,
              bool counts_lines) {
    for (const char c : text) {
      Append(c, file, line);
      if (c == '\n' && counts_lines) ++line;
    }
  }

  void Append(const ComposedText& other) {
    size_t run = 0;
    int64_t line = 0;
    for (const char c : other.text) {
      if (run + 1 < other.lines.size() && other.lines[run + 1].first == line) ++run;
      const ComposedText::Run& from = other.lines[run];
      Append(c, from.file, from.number + line - from.first);
      if (c == '\n') ++line;
    }
  }

  ComposedText Take() { return std::move(composed_); }

 private:
  void Append(char c, const std::shared_ptr<const std::string>& file, int64_t number) {
    if (composed_.text.empty() || composed_.text.back() == '\n') {
      const ComposedText::Run* last = composed_.lines.empty() ? nullptr : &composed_.lines.back();
      const bool continues =
          last && last->file == file && number == last->number + line_ - last->first;
      if (!continues) composed_.lines.push_back({line_, file, number});
    }
    composed_.text += c;
    if (c == '\n') ++line_;
  }

  ComposedText composed_;
  int64_t line_ = 0;  ///< of `composed_`
};

/// The same for all names of a file.
std::string CanonicalPath(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : canonical.string();
}

/// Renders one file.
class Rendering {
 public:
  Rendering(Loading& loading, const std::string& path, std::vector<std::string> folders, int depth)
      : loading_(loading),
        path_(std::make_shared<const std::string>(path)),
        files_(path, std::move(folders)),
        depth_(depth) {
    for (const auto& [name, text] : loading.variables) {
      scope_.variables[name] = ReadTemplateValue(text);
    }
    AddFunctions();
  }

  ComposedText Run() {
    const std::string file = CanonicalPath(*path_);
    if (std::ranges::find(loading_.open, file) != loading_.open.end()) {
      throw InputError(fmt::format(
          "{}: includes itself{}", base::SingleLine(*path_, base::kMaxPathBytes),
          loading_.open.back() == file
              ? ""
              : ", through " + base::SingleLine(loading_.open.back(), base::kMaxPathBytes)));
    }
    loading_.open.push_back(file);
    if (depth_ > kMaxIncludeDepth) {
      throw InputError(fmt::format("{}: files include each other more than {} deep",
                                   base::SingleLine(*path_, base::kMaxPathBytes),
                                   kMaxIncludeDepth));
    }
    if (++loading_.files > kMaxIncludedFiles) {
      throw InputError(fmt::format("{}: more than {} files are included",
                                   base::SingleLine(*path_, base::kMaxPathBytes),
                                   kMaxIncludedFiles));
    }
    std::string text = base::ReadFile(*path_, base::kMaxTextBytes);
    if (text.ends_with('\n')) text.pop_back();  // as Jinja does
    PieceReader reader(text, *path_);
    while (const std::optional<Piece> piece = reader.Next()) Render(*piece);
    if (!branches_.empty()) {
      Fail(branches_.back().opened, "is not ended by {% endif %}");
    }
    loading_.open.pop_back();
    return composer_.Take();
  }

 private:
  /// An if that is open.
  struct Branch {
    Piece opened;
    bool is_rendered = false;  ///< what stands here now
    bool is_decided = false;   ///< a branch was rendered, or all of it is left out
    bool has_else = false;
  };

  [[noreturn]] void Fail(const Piece& piece, std::string_view message) const {
    const bool is_expression = piece.kind == Piece::Kind::kExpression;
    throw InputError(fmt::format("{}:{}: {}{}{}: {}", base::SingleLine(*path_, base::kMaxPathBytes),
                                 piece.line, is_expression ? "{{" : "{%",
                                 base::SingleLine(piece.text), is_expression ? "}}" : "%}",
                                 message));
  }

  /// Calls `action`; what an expression is refused for is thrown with its place.
  template <typename Action>
  auto WithPlace(const Piece& piece, Action action) const {
    try {
      return action();
    } catch (const ExpressionError& error) {
      Fail(piece, error.what());
    }
  }

  bool IsRendered() const { return branches_.empty() || branches_.back().is_rendered; }

  void Render(const Piece& piece) {
    if (piece.kind == Piece::Kind::kStatement) return RenderStatement(piece);
    if (!IsRendered()) return;
    if (piece.kind == Piece::Kind::kText) {
      Count(piece, piece.text.size());
      return composer_.Append(piece.text, path_, piece.line, true);
    }
    const Expression expression = Parse(piece, piece.text);
    if (const std::vector<Expression>* arguments = expression.CallOf("include_text")) {
      return WithPlace(piece, [&] { IncludeText(piece, *arguments); });
    }
    const std::string value = PrintTemplateValue(Evaluate(piece, expression));
    Count(piece, value.size());
    composer_.Append(value, path_, piece.line, false);
  }

  void Count(const Piece& piece, size_t bytes) {
    loading_.bytes += bytes;
    if (loading_.bytes > base::kMaxTextBytes) {
      Fail(piece, fmt::format("there are more than {} MiB of text", base::kMaxTextBytes >> 20));
    }
  }

  /// Values of variables count as text, so that none can double again and again.
  void CountValue(const Piece& piece, const TemplateValue& value) {
    const size_t bytes = PrintTemplateValue(value).size();
    if (bytes > base::kMaxTemplateValueBytes) {
      Fail(piece,
           fmt::format("the value has more than {} MiB", base::kMaxTemplateValueBytes >> 20));
    }
    Count(piece, bytes);
  }

  Expression Parse(const Piece& piece, std::string_view text) const {
    if (text.size() > kMaxExpressionBytes) {
      Fail(piece, fmt::format("has more than {} bytes", kMaxExpressionBytes));
    }
    return WithPlace(piece, [&] { return Expression::Parse(text); });
  }

  TemplateValue Evaluate(const Piece& piece, const Expression& expression) const {
    return WithPlace(piece, [&] { return expression.Evaluate(scope_); });
  }

  void RenderStatement(const Piece& piece) {
    std::string_view rest = piece.text;
    const std::string_view name = TakeWord(rest);
    if (name == "if") {
      Branch branch{.opened = piece};
      branch.is_decided = !IsRendered();
      if (!branch.is_decided) branch.is_rendered = IsTrue(Evaluate(piece, Parse(piece, rest)));
      branch.is_decided = branch.is_decided || branch.is_rendered;
      branches_.push_back(branch);
    } else if (name == "elif" || name == "else") {
      ContinueBranch(piece, name == "else", rest);
    } else if (name == "endif") {
      if (branches_.empty()) Fail(piece, "there is no {% if %}");
      branches_.pop_back();
    } else if (name == "set") {
      const std::string variable(TakeWord(rest));
      const size_t equals = rest.find_first_not_of(" \t\n");
      if (variable.empty() || equals == std::string_view::npos || rest[equals] != '=') {
        Fail(piece, "expected {% set name = expression %}");
      }
      if (!IsRendered()) return;
      TemplateValue value = Evaluate(piece, Parse(piece, rest.substr(equals + 1)));
      CountValue(piece, value);
      scope_.variables[variable] = std::move(value);
    } else {
      Fail(piece, "is not supported; there are set, if, elif, else and endif");
    }
  }

  void ContinueBranch(const Piece& piece, bool is_else, std::string_view condition) {
    if (branches_.empty()) Fail(piece, "there is no {% if %}");
    Branch& branch = branches_.back();
    if (branch.has_else) Fail(piece, "follows {% else %}");
    branch.has_else = is_else;
    branch.is_rendered =
        !branch.is_decided && (is_else || IsTrue(Evaluate(piece, Parse(piece, condition))));
    branch.is_decided = branch.is_decided || branch.is_rendered;
  }

  static std::string_view TakeWord(std::string_view& text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n="));
    text.remove_prefix(word.size());
    return word;
  }

  // Functions.

  static std::string PathOf(const TemplateValue& argument) {
    if (argument.is_string()) return argument.get<std::string>();
    throw ExpressionError(fmt::format("'{}' is no path", PrintTemplateValue(argument)));
  }

  void AddFunction(const std::string& name, size_t least, size_t most,
                   ExpressionScope::Function function) {
    scope_.functions[name] = [=](const std::vector<TemplateValue>& arguments) {
      if (arguments.size() < least || arguments.size() > most) {
        throw ExpressionError(least == most
                                  ? fmt::format("{} has {} arguments", name, least)
                                  : fmt::format("{} has {} or {} arguments", name, least, most));
      }
      return function(arguments);
    };
  }

  void AddFunctions() {
    using Arguments = std::vector<TemplateValue>;
    AddFunction("cwd", 0, 0, [this](const Arguments&) { return files_.folder(); });
    AddFunction("add_to_path", 1, 1, [this](const Arguments& arguments) {
      files_.AddFolders(PathOf(arguments[0]));
      return "";
    });
    AddFunction("path_exists", 1, 1, [this](const Arguments& arguments) {
      return !files_.FindFirst(PathOf(arguments[0])).empty();
    });
    AddFunction("find_path", 1, 1, [this](const Arguments& arguments) {
      std::string found = files_.FindFirst(PathOf(arguments[0]));
      return found.empty() ? files_.FindAll(PathOf(arguments[0])).front() : found;
    });
    for (const bool is_single : {true, false}) {
      AddFunction(is_single ? "include" : "include_all", 1, 2,
                  [this, is_single](const Arguments& arguments) {
                    return Include(PathOf(arguments[0]),
                                   arguments.size() == 2 ? PathOf(arguments[1]) : "", is_single);
                  });
    }
    AddFunction("include_text", 1, 1, [](const Arguments&) -> TemplateValue {
      throw ExpressionError("include_text stands alone between braces");
    });
  }

  /// "architecture.nodes" of a document.
  static YamlValue ValueAt(YamlValue value, std::string_view keys) {
    while (!keys.empty()) {
      const std::string_view key = keys.substr(0, keys.find('.'));
      keys.remove_prefix(std::min(key.size() + 1, keys.size()));
      if (!key.empty()) value = value.At(key);
    }
    return value;
  }

  /// The scalar that stands for the value in this file's text.
  std::string Include(const std::string& pattern, const std::string& keys, bool is_single) {
    const std::vector<std::string> paths = files_.FindAll(pattern);
    if (is_single && paths.size() > 1) {
      throw ExpressionError(
          fmt::format("there are {} such files: {} and {}; include_all(...) "
                      "includes all",
                      paths.size(), paths[0], paths[1]));
    }
    std::vector<YamlValue> values;
    for (const std::string& path : paths) {
      ComposedText text = Rendering(loading_, path, files_.folders(), depth_ + 1).Run();
      text.included = loading_.included;
      values.push_back(ValueAt(YamlValue::Compose(std::move(text), path), keys));
    }
    loading_.included.push_back(is_single ? values.front() : InOneList(values));
    return fmt::format("{} {}", kIncludedTag, loading_.included.size() - 1);
  }

  /// The items of lists, and what is no list.
  YamlValue InOneList(const std::vector<YamlValue>& values) const {
    std::vector<YamlValue> items;
    for (const YamlValue& value : values) {
      if (!value.IsList()) {
        items.push_back(value);
        continue;
      }
      for (const YamlValue& item : value.Items()) items.push_back(item);
    }
    return YamlValue::ListOf(items, *path_);
  }

  void IncludeText(const Piece& piece, const std::vector<Expression>& arguments) {
    if (arguments.size() != 1) throw ExpressionError("include_text has 1 argument");
    const std::string pattern = PathOf(arguments[0].Evaluate(scope_));
    bool is_first = true;
    for (const std::string& path : files_.FindAll(pattern)) {
      if (!is_first) composer_.Append("\n", path_, piece.line, false);
      is_first = false;
      composer_.Append(Rendering(loading_, path, files_.folders(), depth_ + 1).Run());
    }
  }

  Loading& loading_;
  std::shared_ptr<const std::string> path_;
  TemplateFiles files_;
  int depth_;
  ExpressionScope scope_;
  std::vector<Branch> branches_;
  Composer composer_;
};

}  // namespace

YamlValue LoadTemplate(const std::string& path, const TemplateVariables& variables) {
  Loading loading{.variables = variables};
  ComposedText text = Rendering(loading, path, {}, 0).Run();
  text.included = std::move(loading.included);
  return YamlValue::Compose(std::move(text), path);
}

}  // namespace bayloom::yaml
