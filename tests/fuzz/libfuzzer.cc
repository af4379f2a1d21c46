// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A reader as a target of libFuzzer (cmake -DBAYLOOM_LIBFUZZER=ON with clang).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/try.h"
#include "tests/temporary_folder.h"

namespace bayloom::fuzz {

const std::string& ScratchPath() {
  static const TemporaryFolder folder;
  return folder.path();
}

}  // namespace bayloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using bayloom::fuzz::Verdict;
  const bayloom::fuzz::Finding finding =
      bayloom::fuzz::Try(std::string(reinterpret_cast<const char*>(data), size));
  if (finding.verdict == Verdict::kBadMessage || finding.verdict == Verdict::kInternalError) {
    std::fprintf(stderr, "%s: %s\n", std::string(ToString(finding.verdict)).c_str(),
                 finding.message.c_str());
    std::abort();
  }
  return 0;
}

/// The reader's own seeds stand in for a small input, which is what libFuzzer begins with.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  static const std::vector<std::string> kSeeds = bayloom::fuzz::Seeds();
  bayloom::base::RandomStream random(seed);
  std::vector<std::string> from = {std::string(reinterpret_cast<const char*>(data), size)};
  if (size < 2) from = kSeeds;
  const std::string mutated = bayloom::fuzz::Mutate(from, random);
  const size_t length = std::min(mutated.size(), max_size);
  std::copy_n(mutated.begin(), length, data);
  return length;
}
