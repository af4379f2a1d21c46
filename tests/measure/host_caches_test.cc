// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/host_caches.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_folder.h"

namespace bayloom::measure {
namespace {

class HostCachesTest : public testing::Test {
 protected:
  void Write(int index, int level, const std::string& type, const std::string& size,
             const std::string& shared) {
    const std::filesystem::path folder =
        std::filesystem::path(system_ / "cpu2") / "cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << "\n";
    std::ofstream(folder / "type") << type << "\n";
    std::ofstream(folder / "size") << size << "\n";
    std::ofstream(folder / "shared_cpu_list") << shared << "\n";
  }

  TemporaryFolder system_;
};

TEST_F(HostCachesTest, AreReadFromTheSystem) {
  Write(0, 3, "Unified", "32M", "0-7,16-23");
  Write(1, 1, "Data", "48K", "2,18");
  Write(2, 1, "Instruction", "32K", "2,18");
  Write(3, 2, "Unified", "1024K", "2");
  const std::vector<HostCache> expected = {{1, 48 << 10, 2}, {2, 1 << 20, 1}, {3, 32 << 20, 4}};
  EXPECT_EQ(HostCaches({2, 3, 7, 18}, system_.path()), expected);
}

TEST_F(HostCachesTest, AreOnesOwnWhereNobodySaysWhoSharesThem) {
  Write(0, 1, "Data", "32K", "");
  Write(1, 2, "Unified", "garbage", "2");
  const std::vector<HostCache> expected = {{1, 32 << 10, 1}};
  EXPECT_EQ(HostCaches({2}, system_.path()), expected);
}

TEST_F(HostCachesTest, ComeFromSysconfWithoutTheFolder) {
  int level = 0;
  for (const HostCache& cache : HostCaches({2}, system_.path())) {
    EXPECT_EQ(cache.level, ++level);
    EXPECT_GT(cache.bytes, 0);
    EXPECT_EQ(cache.sharers, 1);
  }
}

TEST(HostCaches, OfThisMachineGrowOutwards) {
  const std::vector<HostCache> caches = HostCaches(AllowedProcessors());
  for (size_t i = 1; i < caches.size(); ++i) EXPECT_GT(caches[i].bytes, caches[i - 1].bytes);
}

}  // namespace
}  // namespace bayloom::measure
