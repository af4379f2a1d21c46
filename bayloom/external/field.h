#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace YAML {
class Node;
}

namespace bayloom {

/// A place in a YAML or JSON file that a person wrote (JSON is read by the YAML parser, so that
/// both have line numbers). Whatever does not fit throws an InputError of one line that says where:
///
///     matmul.yaml:12:9: parameters.tile.range: expected a list of two numbers
///
/// Copies are cheap and refer to the same document.
class Field {
 public:
  /// The top of a document; `source` is its name in messages.
  static Field Parse(const std::string& text, const std::string& source);
  static Field Load(const std::string& path);

  bool IsMap() const;
  bool IsList() const;
  bool IsScalar() const;
  bool IsNull() const;
  /// A scalar that was written in quotes: text even if it looks like a number.
  bool IsQuoted() const;

  /// The entry of a map; nullopt where there is none or it is null.
  std::optional<Field> Find(std::string_view key) const;
  Field At(std::string_view key) const;
  /// The entries of a map in the order they are written, no key twice.
  std::vector<std::pair<std::string, Field>> Entries() const;
  std::vector<Field> Items() const;
  /// Refuses a map with other keys than these, naming the one that was perhaps meant.
  void AllowOnly(std::initializer_list<std::string_view> keys) const;

  std::string Text() const;
  double Real() const;  ///< finite
  int64_t Int() const;
  /// A whole number within [low, high].
  int64_t IntWithin(int64_t low, int64_t high) const;
  bool Bool() const;
  /// Seconds: a number, or "500ms", "90s", "10m", "1.5h", "1h30m". Positive.
  double Duration() const;
  /// Bytes: a whole number, or "512MiB", "4GiB". Positive.
  int64_t Bytes() const;
  /// The value of a scalar as it reads: true and false, whole numbers, other numbers, text.
  nlohmann::json Scalar() const;

  /// "parameters.tile.range"; empty at the top.
  const std::string& path() const { return path_; }
  [[noreturn]] void Fail(const std::string& message) const;

 private:
  struct Document;
  Field(std::shared_ptr<const Document> document, const YAML::Node& node, std::string path);
  /// "expected a number, not 'x'".
  [[noreturn]] void Expected(std::string_view what) const;

  std::shared_ptr<const Document> document_;
  std::shared_ptr<const YAML::Node> node_;
  std::string path_;
};

/// Text from a file or a program made fit for a one-line message: control characters become
/// spaces, bytes that are no UTF-8 question marks, and what is long is cut.
std::string InOneLine(std::string_view text, size_t longest = 80);

}  // namespace bayloom
