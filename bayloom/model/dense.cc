// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/model/dense.h"

namespace bayloom::model {

extern const DenseOperations kDensePortable;
#if defined(__x86_64__)
extern const DenseOperations kDenseX86_64_v3;
extern const DenseOperations kDenseX86_64_v4;
#endif

const DenseOperations& Dense() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return kDenseX86_64_v4;
  if (__builtin_cpu_supports("x86-64-v3")) return kDenseX86_64_v3;
#endif
  return kDensePortable;
}

}  // namespace bayloom::model
