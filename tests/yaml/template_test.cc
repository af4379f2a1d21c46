// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/yaml/template/template.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/yaml/template/expression.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::yaml {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The message, with the folder of the files left out.
std::string MessageWithoutFolder(const std::function<void()>& action,
                                 const TemporaryFolder& folder) {
  std::string message = MessageOf(action);
  for (size_t at = 0; (at = message.find(folder.path())) != std::string::npos;) {
    message.erase(at, folder.path().size());
  }
  return message;
}

class Template : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    base::WriteFile(folder_ / name, text);
  }
  YamlValue Load(const std::string& name, const TemplateVariables& variables = {}) const {
    return LoadTemplate(folder_ / name, variables);
  }
  std::string Refusal(const std::string& text) const {
    Write("refused.yaml", text);
    return MessageWithoutFolder([&] { (void)Load("refused.yaml"); }, folder_);
  }

  TemporaryFolder folder_;
};

std::string ValueOf(const std::string& expression) {
  ExpressionScope scope;
  scope.variables = {{"rows", 12}, {"name", "chip"}, {"none", nullptr}};
  return PrintTemplateValue(Expression::Parse(expression).Evaluate(scope));
}

/// The values that Jinja 3 prints.
TEST(TemplateExpression, IsWhatJinjaSays) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 // 2", "3"},
      {"-7 // 2", "-4"},
      {"-7 % 3", "2"},
      {"7 / 2", "3.5"},
      {"8 / 2", "4.0"},
      {"2 * 0.25", "0.5"},
      {"10 - 2 - 3", "5"},
      {"rows * 16", "192"},
      {"name ~ '/' ~ rows ~ \".yaml\"", "chip/12.yaml"},
      {"'a' + 'b'", "ab"},
      {"rows > 8 and not name == 'x'", "True"},
      {"rows if rows >= 16 else 16", "16"},
      {"missing | default(8)", "8"},
      {"missing|default(name ~ 's')", "chips"},
      {"rows|default(8)", "12"},
      {"missing|default(False) or rows", "12"},
      {"'' or None", "None"},
      {"'it\\'s'", "it's"},
      {"1e-9 < 1", "True"},
      {"'a' != 'b'", "True"},
  };
  for (const auto& [expression, value] : cases) EXPECT_EQ(ValueOf(expression), value) << expression;
}

TEST(TemplateExpression, RefusesWhatHasNoValue) {
  for (const char* text :
       {"", "1 +", "(1", "1 2", "'a", "a.b", "x[0]", "1 / 0", "1 // 0", "'a' * 2",
        "9223372036854775807 + 1", "unknown", "unknown()", "rows|upper", "1 < 'a'", "1x"}) {
    EXPECT_THROW((void)ValueOf(text), ExpressionError) << text;
  }
  EXPECT_THROW((void)ValueOf(std::string(500, '(')), ExpressionError);
}

TEST(TemplateExpression, ReadsNumbersAsTheyArePrinted) {
  for (const char* text : {"8", "-3", "0.5", "true", "True"}) {
    EXPECT_FALSE(ReadTemplateValue(text).is_string()) << text;
  }
  for (const char* text : {"08", "1.10", "eyeriss", "", "inf", "1 "}) {
    EXPECT_TRUE(ReadTemplateValue(text).is_string()) << text;
  }
}

TEST_F(Template, RendersVariablesAndBranches) {
  Write("a.yaml",
        "width: {{width|default(8) * 2}}\n"
        "{# {{not read}} #}\n"
        "{% set kind = 'wide' if width|default(8) > 8 else 'narrow' %}\n"
        "kind: {{kind}}\n"
        "{% if width|default(8) > 8 %}\n"
        "more: [1]\n"
        "{% elif kind == 'narrow' %}\n"
        "less: [2]\n"
        "{% if False %}\nnever: {{unknown}}\n{% else %}\nalways: 1\n{% endif %}\n"
        "{% else %}\n"
        "never: {{unknown}}\n"
        "{% endif %}\n");
  const YamlValue narrow = Load("a.yaml");
  EXPECT_EQ(narrow.At("width").Int(), 16);
  EXPECT_EQ(narrow.At("kind").Text(), "narrow");
  EXPECT_TRUE(narrow.Find("less"));
  EXPECT_TRUE(narrow.Find("always"));
  EXPECT_FALSE(narrow.Find("never"));
  const YamlValue wide = Load("a.yaml", {{"width", "16"}});
  EXPECT_EQ(wide.At("width").Int(), 32);
  EXPECT_TRUE(wide.Find("more"));
  EXPECT_FALSE(wide.Find("less"));
}

TEST_F(Template, IncludesValuesAndTextsOfFiles) {
  base::CreateFolder(folder_ / "parts");
  Write("parts/chip.yaml", "chip:\n  nodes: [a, {{size}}]\n");
  Write("parts/names.yaml", "names: &names\n  x: 1\n");
  Write("parts/list1.yaml", "list: [1, 2]\n");
  Write("parts/list2.yaml", "list: [3]\n");
  Write("top.yaml",
        "{{include_text('parts/names.yaml')}}\n"
        "{{add_to_path(cwd() ~ '/parts')}}\n"
        "chip: {{include(which|default('chip.yaml'), 'chip')}}\n"
        "nodes: {{include('chip.yaml', 'chip.nodes')}}\n"
        "all: {{include_all('parts/list*.yaml', 'list')}}\n"
        "copy: *names\n"
        "{% if path_exists('chip.yaml') and not path_exists('other.yaml') %}\n"
        "place: {{find_path('chip.yaml')}}\n"
        "{% endif %}\n");
  const YamlValue top = Load("top.yaml", {{"size", "7"}});
  EXPECT_THAT(top.At("chip").At("nodes").Texts(), ElementsAre("a", "7"));
  EXPECT_EQ(top.At("nodes").Items()[1].Int(), 7);
  EXPECT_THAT(top.At("all").Texts(), ElementsAre("1", "2", "3"));
  EXPECT_EQ(top.At("copy").At("x").Int(), 1);
  EXPECT_EQ(top.At("place").Text(), folder_ / "parts/chip.yaml");
}

/// The same key as in Python's front end: what is there stays, maps are merged, lists appended.
TEST_F(Template, MergesMaps) {
  Write("a.yaml",
        "base: &base {one: 1, map: {a: 1, b: 2}, list: [1, 2], fixed: [1]}\n"
        "other: &other {one: 3, two: 2, map: {a: 5, c: 3}}\n"
        "deep: {<<<: *base, map: {b: 7}, list: [3], fixed: !nomerge [2]}\n"
        "flat: {<<: [*base, *other], map: {b: 7}}\n"
        "both: {<<<: [*base, *other]}\n");
  const YamlValue top = Load("a.yaml");
  const YamlValue deep = top.At("deep");
  EXPECT_EQ(deep.At("one").Int(), 1);
  EXPECT_EQ(deep.At("map").At("a").Int(), 1);
  EXPECT_EQ(deep.At("map").At("b").Int(), 7);
  EXPECT_THAT(deep.At("list").Texts(), ElementsAre("3", "1", "2"));
  EXPECT_THAT(deep.At("fixed").Texts(), ElementsAre("2"));
  EXPECT_FALSE(deep.Find("<<<"));
  const YamlValue flat = top.At("flat");
  EXPECT_EQ(flat.At("one").Int(), 1);
  EXPECT_EQ(flat.At("two").Int(), 2);
  EXPECT_EQ(flat.At("map").Entries().size(), 1u);
  const YamlValue both = top.At("both");
  EXPECT_EQ(both.At("map").At("a").Int(), 1);
  EXPECT_EQ(both.At("map").At("c").Int(), 3);
  EXPECT_EQ(both.At("list").Items().size(), 2u);
}

/// In time in proportion to the text: pairs of entries would be a hundred million.
TEST_F(Template, MergesManyEntries) {
  constexpr int kCount = 10'000;
  std::string maps;
  std::string names;
  for (int i = 0; i < kCount; ++i) {
    maps += fmt::format("  - {{map: {{n{}: {}}}, list: [{}], n{}: 0}}\n", i, i, i, i);
    names += fmt::format("  n{}: 1\n", i);
  }
  for (const std::string key : {"<<", "<<<"}) {
    Write("a.yaml", "merged:\n" + names + "  " + key + ":\n" + maps);
    const YamlValue merged = Load("a.yaml").At("merged");
    const auto entries = merged.Entries();
    EXPECT_EQ(entries.size(), kCount + 2);
    EXPECT_EQ(entries[kCount - 1].second.Int(), 1);
    const size_t count = key == "<<" ? 1 : kCount;
    EXPECT_EQ(merged.At("map").Entries().size(), count);
    EXPECT_EQ(merged.At("list").Items().size(), count);
  }
}

TEST_F(Template, SaysWhereAValueWasWritten) {
  Write("base.yaml", "one: 1\ntwo: &two\n  three: x\n");
  Write("inner.yaml", "{% if True %}\nbad:\n  value: y\n{% endif %}\n");
  Write("top.yaml",
        "{{include_text('base.yaml')}}\nlast: z\nmerged:\n  <<<: *two\n"
        "inner: {{include('inner.yaml', 'bad')}}\n");
  const YamlValue top = Load("top.yaml");
  const auto refusal = [&](const YamlValue& value) {
    return MessageWithoutFolder([&] { (void)value.Int(); }, folder_);
  };
  EXPECT_EQ(refusal(top.At("two").At("three")),
            "/base.yaml:3:10: two.three: expected a whole number, found 'x'");
  EXPECT_EQ(refusal(top.At("last")), "/top.yaml:2:7: last: expected a whole number, found 'z'");
  EXPECT_THAT(refusal(top.At("merged").At("three")), HasSubstr("/base.yaml:3:10: "));
  EXPECT_EQ(refusal(top.At("inner").At("value")),
            "/inner.yaml:3:10: bad.value: expected a whole number, found 'y'");
}

TEST_F(Template, RefusesInOneLineNamingTheExpression) {
  EXPECT_EQ(Refusal("a: 1\nb: {{width * 2}}\n"),
            "/refused.yaml:2: {{width * 2}}: there is no variable 'width'; define it, "
            "width=VALUE");
  EXPECT_EQ(
      Refusal("{% for x in y %}\n{% endfor %}\n"),
      "/refused.yaml:1: {% for x in y %}: is not supported; there are set, if, elif, else and "
      "endif");
  EXPECT_EQ(Refusal("a: {{include('no.yaml')}}\n"),
            "/refused.yaml:1: {{include('no.yaml')}}: there is no file 'no.yaml' in ");
  EXPECT_EQ(Refusal("a: 1\n{% if True %}\n"),
            "/refused.yaml:2: {% if True %}: is not ended by "
            "{% endif %}");
  EXPECT_EQ(Refusal("a: {{1\n"), "/refused.yaml:1: '{{' does not end");
  EXPECT_EQ(Refusal("a: {{setenv('a', 1)}}\n"),
            "/refused.yaml:1: {{setenv('a', 1)}}: there is no function 'setenv'; there are "
            "add_to_path, cwd, find_path, include, include_all, include_text, path_exists");
  for (const char* text :
       {"{% endif %}a: 1", "{% else %}", "{% if 1 %}{% else %}{% else %}", "{% set x %}",
        "{{include_text('refused.yaml') ~ ''}}", "a: {{include_all()}}", "a: {{include(1)}}"}) {
    const std::string message = Refusal(text);
    EXPECT_THAT(message, testing::StartsWith("/refused.yaml:1: ")) << text;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text;
  }
}

TEST_F(Template, EndsWhereFilesIncludeThemselves) {
  EXPECT_EQ(Refusal("a: {{include('refused.yaml')}}\n"), "/refused.yaml: includes itself");
  EXPECT_EQ(Refusal("a: 1\n{{include_text('refused.yaml')}}\n{{include_text('refused.yaml')}}"),
            "/refused.yaml: includes itself");
  Write("between.yaml", "{{include_text('refused.yaml')}}");
  EXPECT_EQ(Refusal("a: {{include_all('between.yaml')}}\n"),
            "/refused.yaml: includes itself, through /between.yaml");
  // Twice in a row is no circle.
  Write("leaf.yaml", "b: 1");
  EXPECT_EQ(Refusal("a: {{include('leaf.yaml')}}\nc: {{include('leaf.yaml')}}\n"), "");
  for (int i = 0; i < 30; ++i) {
    Write(fmt::format("chain{}.yaml", i),
          fmt::format("{{{{include_text('chain{}.yaml')}}}}\n", i + 1));
  }
  EXPECT_THAT(MessageWithoutFolder([&] { (void)Load("chain0.yaml"); }, folder_),
              HasSubstr("files include each other more than 20 deep"));
  // Each includes the next twice, so that 2^15 texts were read.
  for (int i = 0; i < 15; ++i) {
    const std::string next = fmt::format("{{{{include_text('f{}.yaml')}}}}\n", i + 1);
    Write(fmt::format("f{}.yaml", i), next + next);
  }
  Write("f15.yaml", "a\n");
  EXPECT_THAT(MessageWithoutFolder([&] { (void)Load("f0.yaml"); }, folder_),
              HasSubstr("more than 1000 files are included"));
}

/// What is included counts as what aliases repeat.
TEST_F(Template, LimitsWhatIsRepeated) {
  std::string list = "a: [0";
  for (int i = 0; i < 40000; ++i) list += ", 0";
  Write("list.yaml", list + "]\n");
  EXPECT_THAT(Refusal("a: {{include('list.yaml')}}\nb: {{include('list.yaml')}}\n"
                      "c: {{include('list.yaml')}}\n"),
              HasSubstr("more than 100000 values"));
  Write("deep.yaml", std::string(60, '[') + std::string(60, ']'));
  EXPECT_THAT(Refusal(std::string(60, '[') + "{{include('deep.yaml')}}" + std::string(60, ']')),
              HasSubstr("nested more than 100 deep"));
}

TEST_F(Template, LimitsWhatVariablesHold) {
  std::string doubling = "{% set a = 'xxxxxxxxxxxxxxxx' %}\n";
  for (int i = 0; i < 28; ++i) doubling += "{% set a = a ~ a %}\n";
  EXPECT_EQ(Refusal(doubling + "b: 1\n"),
            "/refused.yaml:18: {% set a = a ~ a %}: the text has more than 1 MiB");
  // Many that are just small enough count as text.
  std::string many = doubling.substr(0, doubling.find('\n') + 1);
  for (int i = 0; i < 15; ++i) many += "{% set a = a + a %}\n";
  for (int i = 0; i < 200; ++i) many += fmt::format("{{% set b{} = a %}}\n", i);
  EXPECT_THAT(Refusal(many + "b: 1\n"), HasSubstr("there are more than 64 MiB of text"));
}

TEST_F(Template, IncludesWhatEndsOnly) {
  ASSERT_EQ(mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
  for (const char* text : {"a: {{include('pipe.yaml')}}\n", "a: {{include_all('p*.yaml')}}\n",
                           "{{include_text('pipe.yaml')}}\n", "a: {{include('/dev/zero')}}\n"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("there is no file")) << text;
  }
  EXPECT_THAT(Refusal("a: {{include_all('/*/*/*/x.yaml')}}\n"),
              HasSubstr("more than 2 folders of '/*/*/*/x.yaml' have wildcards"));
  EXPECT_THAT(Refusal("a: {{include_all('/*/../*/../*/../*/../*/../*/../no.yaml')}}\n"),
              HasSubstr("there is no file"));
}

}  // namespace
}  // namespace bayloom::yaml
