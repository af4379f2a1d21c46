// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_CPU_H_
#define BAYLOOM_CPU_H_

/* Which instruction sets the processor has and the system lets programs use (the registers of AVX
 * and AVX-512 are saved by the system, or are not to be used). Features have LLVM's names. */

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a processor can be asked for the feature here. Code that is shipped uses no other. */
int bayloom_cpu_knows(const char* feature);

/* Whether all of these features, divided by commas, can be used on this processor. */
int bayloom_cpu_has(const char* features);

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_CPU_H_ */
