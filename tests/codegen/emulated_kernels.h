// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/program.h"
#include "tests/temporary_folder.h"

namespace bayloom::testing {

/// Kernels for AArch64, linked with the runtime into one program that an emulator runs (starting
/// one takes longer than most kernels). Needs what MissingForAArch64 (tests/execute.h) asks for.
class EmulatedKernels {
 public:
  /// Compiles a program; its arguments are those of Interpret. A failure is a test's.
  void Add(const tensor::Program& program, const std::vector<tensor::HostTensor>& arguments,
           const target::Target& target);

  /// Runs all on the emulator's processor ("max", "neoverse-n1"): the arguments of each, those that
  /// are outputs as it left them. Fails the test and returns nothing where that is impossible.
  std::vector<std::vector<tensor::HostTensor>> Run(const std::string& processor);

 private:
  struct Kernel {
    tensor::Program program;
    std::vector<tensor::HostTensor> arguments;
    int64_t workspace_bytes;
  };

  std::string ObjectName(size_t kernel) const;
  void WriteTable() const;
  void WriteInput() const;
  bool Link() const;

  TemporaryFolder folder_;
  std::vector<Kernel> kernels_;
};

}  // namespace bayloom::testing
