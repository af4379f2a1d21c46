// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Recorded spaces (T4), plain and compressed.

#include <zlib.h>

#include <cstdio>

#include "bayloom/search/recorded_space.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

constexpr const char* kRecords = R"({"schema_version": "1.0.0", "metadata": {"timeunit": "ms"},
 "results": [
 {"configuration": {"bx": 16, "s": "row"}, "times": {"compilation": 9.5, "runtimes": [1, 2]},
  "invalidity": "correct", "correctness": 1, "objectives": ["time"],
  "measurements": [{"name": "time", "value": 1.5, "unit": "ms"}]},
 {"configuration": {"bx": 32, "s": "col"}, "times": {}, "invalidity": "compile",
  "measurements": [{"name": "time", "value": "CompilationError"}], "objectives": ["time"]}]})";

std::string Compressed(const std::string& text) {
  const std::string path = ScratchPath() + "/compressed";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::string bytes(1 << 16, '\0');
  std::FILE* in = std::fopen(path.c_str(), "rb");
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), in));
  std::fclose(in);
  return bytes;
}

}  // namespace

std::vector<std::string> Seeds() { return {kRecords, Compressed(kRecords)}; }

void Read(const std::string& input) {
  const search::RecordedSpace space =
      search::RecordedSpace::Load(WriteScratch("records.json", input));
  (void)space.CountFeasible();
  (void)space.Min();
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
