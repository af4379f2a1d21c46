// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "tests/temporary_folder.h"

namespace bayloom::mapspace {
namespace {

using testing::HasSubstr;

/// Files as a front end of version 0.4 puts them together: one that includes the others.
class TemplateFiles : public testing::Test {
 protected:
  TemplateFiles() {
    Write("base.yaml",
          "base: &base\n"
          "  instance: {M: 1, N: 1, K: 1}\n"
          "  shape:\n"
          "    dimensions: [M, N, K]\n"
          "    data_spaces:\n"
          "    - {name: A, projection: [[[M]], [[K]]]}\n"
          "    - {name: B, projection: [[[K]], [[N]]]}\n"
          "    - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n");
    Write("layer.yaml",
          "{{include_text('base.yaml')}}\n"
          "problem:\n  <<<: *base\n  instance: {M: 8, K: {{depth|default(4)}}}\n");
    Write("variables.yaml", "variables:\n  BITS: {{bits}}\n");
    Write("arch.yaml",
          "architecture:\n"
          "  nodes:\n"
          "  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: BITS}}\n"
          "{% if cached|default(True) %}\n"
          "  - !Component\n"
          "    name: Cache\n"
          "    class: SRAM\n"
          "    attributes: {depth: {{kilobytes|default(16) * 1024 * 8 // 64}}, width: 64,\n"
          "                 datawidth: BITS}\n"
          "{% endif %}\n"
          "  - !Component\n"
          "    name: mac\n"
          "    class: {{mac_class|default('intmac')}}\n"
          "    spatial: {meshX: 4}\n"
          "    attributes: {datawidth: BITS}\n");
    Write("top.yaml.jinja2",
          "architecture: {{include('arch.yaml', 'architecture')}}\n"
          "variables: {{include('variables.yaml', 'variables')}}\n"
          "problem: {{include(problem|default('layer.yaml'), 'problem')}}\n"
          "extra_mapping_constraints:\n"
          "  targets:\n"
          "  - {target: DRAM, type: temporal, factors: [M=1]}\n");
  }
  void Write(const std::string& name, const std::string& text) const {
    base::WriteFile(folder_ / name, text);
  }

  TemporaryFolder folder_;
};

TEST_F(TemplateFiles, AreReadAsOne) {
  const std::string top = folder_ / "top.yaml.jinja2";
  const yaml::TemplateVariables variables = {{"bits", "8"}, {"kilobytes", "32"}};
  const Architecture architecture = LoadArchitecture(top, nullptr, variables);
  ASSERT_EQ(architecture.levels.size(), 2u);
  EXPECT_EQ(architecture.levels[0].name, "Cache");
  EXPECT_EQ(architecture.levels[0].words, 32 * 1024);
  EXPECT_EQ(architecture.levels[0].word_bits, 8);
  EXPECT_EQ(architecture.arithmetic.instances, 4);
  const Problem problem = ReadProblem(top, variables);
  EXPECT_EQ(problem.bounds, (std::vector<int64_t>{8, 1, 4}));
  ASSERT_EQ(ReadConstraints(top, variables).size(), 1u);
}

TEST_F(TemplateFiles, VariablesSayWhatIsThere) {
  const Architecture architecture =
      ReadArchitecture(folder_ / "top.yaml.jinja2", nullptr, {{"bits", "16"}, {"cached", "False"}});
  ASSERT_EQ(architecture.levels.size(), 1u);
  EXPECT_EQ(architecture.levels[0].word_bits, 16);
  EXPECT_EQ(ReadProblem(folder_ / "layer.yaml", {{"depth", "12"}}).bounds,
            (std::vector<int64_t>{8, 1, 12}));
}

TEST_F(TemplateFiles, RefusalsNameTheFileThatWasIncluded) {
  try {
    (void)ReadArchitecture(folder_ / "top.yaml.jinja2");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("variables.yaml:2: {{bits}}: there is no variable 'bits'"));
  }
  Write("arch.yaml", "architecture:\n  nodes:\n  - !Component {name: a, class: SRAM}\n");
  try {
    (void)ReadArchitecture(folder_ / "top.yaml.jinja2", nullptr, {{"bits", "8"}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("arch.yaml:3:"));
    EXPECT_THAT(error.what(), HasSubstr("memory 'a' needs its 'depth'"));
  }
}

}  // namespace
}  // namespace bayloom::mapspace
