// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/report/table.h"

namespace bayloom::report {
namespace {

TEST(Printable, JsonStaysJsonWithoutControlCharacters) {
  const nlohmann::json json = {{"caf\xe9", "\x1b[31m\x7f\xc2\x9b"}, {"list", {1, 2.5, nullptr}}};
  const std::string text = JsonText(json);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f) || c < 0) << text;
  EXPECT_EQ(text.find('\x9b'), std::string::npos);
  const nlohmann::json read = nlohmann::json::parse(text);
  EXPECT_EQ(read["list"], json["list"]);
  EXPECT_EQ(read["caf\xef\xbf\xbd"], "\x1b[31m\x7f\xc2\x9b");
}

TEST(Printable, LinesStayLines) {
  EXPECT_EQ(InLines("a\n\x1b[2Jb\n"), "a\n\\x1b[2Jb\n");
  EXPECT_EQ(InLines(std::string(5000, 'x') + "\n\n"), std::string(5000, 'x') + "\n\n");
  EXPECT_EQ(InLines(""), "");
}

TEST(Printable, CellsOfTablesAreEscapedAndAlignedByCharacters) {
  Table table({"name", "n"});
  table.AddRow({"\x1b[31mred", 1});
  table.AddRow({"caf\xc3\xa9", 22});
  EXPECT_EQ(table.Text(),
            "name          n\n"
            "\\x1b[31mred   1\n"
            "caf\xc3\xa9         22\n");
}

}  // namespace
}  // namespace bayloom::report
