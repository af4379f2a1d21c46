// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/measure/gpu_session.h"

namespace bayloom::measure {

// NVIDIA's management library, loaded when it is needed: from the file that the environment
// variable BAYLOOM_NVML names, else libnvidia-ml.so.1.

/// The library's handle of the GPU with this PCI address; null where there is no library.
void* FindNvmlDevice(const char* pci_bus);
/// The clock of the multiprocessors and the power at this moment; zeros for a null device, and for
/// what the library does not tell.
GpuState NvmlState(void* device);

}  // namespace bayloom::measure
