#pragma once

#include <cstdint>
#include <string>

namespace bayloom {

/// The machine that code is made for, as far as schedules and code generation care.
struct Target {
  std::string name;             ///< for people, e.g. "native"
  std::string triple;           ///< LLVM's, e.g. "x86_64-pc-linux-gnu"
  std::string cpu;              ///< LLVM's name of the processor, e.g. "znver3"
  std::string features;         ///< LLVM's feature string, e.g. "+avx2,+fma"
  int cores = 1;                ///< threads that parallel loops run on
  int vector_bytes = 32;        ///< width of one vector register
  int64_t l1_bytes = 32 << 10;  ///< data cache of one core
  int64_t l2_bytes = 1 << 20;   ///< second-level cache of one core
};

}  // namespace bayloom
