// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_target.h"

#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/measure/measure_machine.h"

namespace bayloom::tuning {

target::Target MeasuredTarget(record::Store& store, target::Target target,
                              const std::function<void(const std::string&)>& warning) {
  if (const auto known = store.FindTarget(target)) return store.TargetOf(*known);
  const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(target);
  if (!machine) throw InputError(machine.error().message);
  if (machine->disturbed) warning(measure::DescribeMeasuredBusy(*machine->disturbed));
  target.machine = machine->model;
  return store.TargetOf(store.AddTarget(target));
}

}  // namespace bayloom::tuning
