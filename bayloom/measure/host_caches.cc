// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/host_caches.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace bayloom::measure {
namespace {

/// The file's first word; empty where there is no such file.
std::string ReadWord(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

/// "32K", "1024K", "2M".
int64_t ParseBytes(const std::string& text) {
  std::istringstream stream(text);
  int64_t number = 0;
  char unit = 0;
  stream >> number >> unit;
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
}

/// Of a list such as "0-3,8", how many are among the processors.
int CountListed(const std::string& list, const std::set<int>& processors) {
  std::istringstream stream(list);
  std::string range;
  int count = 0;
  while (std::getline(stream, range, ',')) {
    std::istringstream numbers(range);
    int first = 0, last = 0;
    char dash = 0;
    numbers >> first;
    if (!(numbers >> dash >> last)) last = first;
    count += static_cast<int>(std::distance(processors.lower_bound(first),
                                            processors.upper_bound(std::max(first, last))));
  }
  return count;
}

std::optional<HostCache> ReadCache(const std::filesystem::path& folder,
                                   const std::set<int>& processors) {
  const std::string type = ReadWord(folder / "type");
  if (type != "Data" && type != "Unified") return std::nullopt;
  HostCache cache;
  cache.level = std::atoi(ReadWord(folder / "level").c_str());
  cache.bytes = ParseBytes(ReadWord(folder / "size"));
  cache.sharers = std::max(1, CountListed(ReadWord(folder / "shared_cpu_list"), processors));
  if (cache.level < 1 || cache.bytes <= 0) return std::nullopt;
  return cache;
}

std::vector<HostCache> SysconfCaches() {
  std::vector<HostCache> caches;
  int level = 0;
  for (int name : {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
    const long bytes = sysconf(name);
    if (bytes <= 0) break;
    caches.push_back({++level, bytes, 1});
  }
  return caches;
}

}  // namespace

std::set<int> AllowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::set<int> processors;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &allowed)) processors.insert(i);
    }
  }
  if (processors.empty()) processors.insert(0);
  return processors;
}

std::vector<HostCache> HostCaches(const std::set<int>& processors, const std::string& system) {
  const std::filesystem::path folder =
      std::filesystem::path(system) / ("cpu" + std::to_string(*processors.begin())) / "cache";
  std::vector<HostCache> caches;
  for (int i = 0; std::filesystem::is_directory(folder / ("index" + std::to_string(i))); ++i) {
    const auto cache = ReadCache(folder / ("index" + std::to_string(i)), processors);
    if (cache) caches.push_back(*cache);
  }
  if (caches.empty()) return SysconfCaches();
  std::sort(caches.begin(), caches.end(),
            [](const HostCache& a, const HostCache& b) { return a.level < b.level; });
  return caches;
}

}  // namespace bayloom::measure
