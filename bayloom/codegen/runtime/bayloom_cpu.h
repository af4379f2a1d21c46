// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_CPU_H_
#define BAYLOOM_CPU_H_

/* Which instruction sets the processor has and the system lets programs use: on x86-64 the
 * registers of AVX and AVX-512 are saved by the system, or are not to be used, and for those of AMX
 * it is asked to; on AArch64 the system is asked. Features have LLVM's names. */

#ifdef __cplusplus
extern "C" {
#endif

/* Whether all of these features, divided by commas, can be used on this processor. What it cannot
 * be asked for (bayloom_cpu_features.h) it has not. */
int bayloom_cpu_has(const char* features);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_CPU_H_ */
