#pragma once

#include "bayloom/tensor/workload.h"

namespace bayloom {

/// What the machine can do at best: the two lines of the roofline model (Williams, Waterman,
/// Patterson 2009).
struct MachineRates {
  double flops_per_second;  ///< float32 multiply-adds, counted as two, in the widest vectors
  double bytes_per_second;  ///< reading main memory one after the other
};

/// Measures both with this many threads; takes about a second.
MachineRates MeasureMachineRates(int threads);

/// The least time in which the machine could do so much arithmetic and memory traffic.
double RooflineSeconds(const MachineRates& rates, double flops, double bytes);
/// The same for one run of a workload that touches each element of its parameters once.
double RooflineSeconds(const MachineRates& rates, const Workload& workload);

}  // namespace bayloom
