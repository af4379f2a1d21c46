// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BAYLOOM_GPU_MODEL_H_
#define BAYLOOM_GPU_MODEL_H_

#include "bayloom_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs variants whose program is a bayloom_gpu_network. */
extern const bayloom_accelerator bayloom_gpu_accelerator;

#ifdef __cplusplus
}
#endif

#endif /* BAYLOOM_GPU_MODEL_H_ */
