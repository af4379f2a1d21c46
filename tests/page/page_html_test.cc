// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/page_html.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "bayloom/page/page_reader.h"
#include "tests/count_of.h"
#include "tests/page/page_sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::page {
namespace {

std::string HostilePage(PageKind kind) {
  TemporaryFolder folder;
  record::Store store(folder / "a.db");
  const record::RunId run = store.BeginRun(HostileSearch()).id;
  store.AddTrial(HostileTrial(run, 0));
  PageReader reader(store, kHostile);
  EXPECT_TRUE(reader.Refresh());
  return PageHtml(reader.Since({}), kind);
}

TEST(PageHtml, TextOfStrangersEndsNoScript) {
  for (const PageKind kind : {PageKind::kFile, PageKind::kLive}) {
    const std::string page = HostilePage(kind);
    EXPECT_EQ(CountOf(page, "<script"), 2);
    EXPECT_EQ(CountOf(page, "</script"), 2);
    EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_EQ(page.find('\xff'), std::string::npos);
  }
}

TEST(PageHtml, ItsDataAreReadBackAsTheyWere) {
  const nlohmann::json document = {{"format", 1}, {"text", "</script>&amp;\u2028\"'\\"}};
  const std::string page = PageHtml(document, PageKind::kFile);
  const std::string begin = "data-kind=\"file\">";
  const size_t at = page.find(begin) + begin.size();
  EXPECT_EQ(nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at)), document);
}

TEST(PageHtml, LoadsNothing) {
  const std::string page = HostilePage(PageKind::kFile);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex("\\bsrc *=")));
  const std::string policy = ContentSecurityPolicy(PageKind::kFile);
  EXPECT_EQ(policy.find("default-src 'none'"), 0u);
  EXPECT_EQ(policy.find("connect-src"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_NE(page.find(policy), std::string::npos);
  EXPECT_NE(ContentSecurityPolicy(PageKind::kLive).find("connect-src 'self'"), std::string::npos);
}

}  // namespace
}  // namespace bayloom::page
