// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

namespace bayloom::cli {

/// The databases of an earlier version in tests/record/data, one of each kind.
inline const char* const kSampleDatabases[] = {"tune", "pool", "search", "map"};

/// Unpacks one of them to `path`.
inline void UnpackSample(const std::string& name, const std::string& path) {
  gzFile file = gzopen((BAYLOOM_TEST_RECORDS "/" + name + ".db.gz").c_str(), "rb");
  ASSERT_NE(file, nullptr) << name;
  std::ofstream out(path, std::ios::binary);
  char buffer[4096];
  for (int count; (count = gzread(file, buffer, sizeof(buffer))) > 0;) out.write(buffer, count);
  gzclose(file);
}

}  // namespace bayloom::cli
