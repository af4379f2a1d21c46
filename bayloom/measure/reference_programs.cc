// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/measure/reference_programs.h"

#include "bayloom/sketch/default_schedule.h"

namespace bayloom::measure {

std::vector<tensor::Program> ReferencePrograms(const tensor::Workload& workload,
                                               const target::Target& target) {
  return {sketch::DefaultSchedule(workload, target), tensor::Lower(workload)};
}

}  // namespace bayloom::measure
