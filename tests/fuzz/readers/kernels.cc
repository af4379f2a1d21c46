// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Kernels as a worker without a compiler gets them.

#include <elf.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bayloom/base/json.h"
#include "bayloom/measure/kernel_json.h"
#include "tests/fuzz/reader.h"

namespace bayloom::fuzz {
namespace {

constexpr size_t kParameters = 2;

/// Of a shared library, which is all that is looked at.
std::string Header() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_type = ET_DYN;
  return {reinterpret_cast<const char*>(&header), sizeof(header)};
}

}  // namespace

std::vector<std::string> Seeds() {
  measure::TrialMessage plain;
  plain.kernel.symbol = "kernel";
  plain.kernel.object = Header();
  plain.layouts.resize(kParameters);
  plain.transforms.resize(kParameters);
  measure::TrialMessage packed = plain;
  packed.kernel.shared_workspace_bytes = 64;
  packed.kernel.worker_workspace_bytes = 4096;
  packed.layouts[1] = {{0, 4, 8}, {1, 1, 3}, {0, 1, 4}};
  packed.transforms[0] = {{3, 3}, {{0.5, -1, 0, 1, 2, 3}, {}}};
  return {measure::KernelToJson(plain).dump(), measure::KernelToJson(packed).dump()};
}

void Read(const std::string& input) {
  const Result<nlohmann::json> json = base::ParseJson(input);
  if (!json) return;
  const Result<measure::TrialMessage> kernel = measure::KernelFromJson(*json, kParameters);
  if (!kernel) return;
  // What is accepted says the same when it is written and read again.
  const nlohmann::json written = measure::KernelToJson(*kernel);
  const Result<measure::TrialMessage> again = measure::KernelFromJson(written, kParameters);
  if (!again || measure::KernelToJson(*again) != written) {
    throw std::logic_error("a kernel changes when it is written");
  }
}

std::optional<std::string> MutateStructure(const std::string&, base::RandomStream&) {
  return std::nullopt;
}

}  // namespace bayloom::fuzz
