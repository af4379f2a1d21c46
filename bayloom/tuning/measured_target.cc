// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_target.h"

#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/measure/measure_machine.h"

namespace bayloom::tuning {

target::Target MeasuredTarget(record::Store& store, UserStore& user_store, target::Target target,
                              const MeasuringNotices& notices) {
  if (const auto known = store.FindTarget(target)) return store.TargetOf(*known);
  target.machine = user_store.KnownMachine(target);
  if (!target.machine) {
    notices.measuring();
    const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(target);
    if (!machine) throw InputError(machine.error().message);
    target.machine = machine->model;
    if (machine->disturbed) {
      notices.disturbed(measure::DescribeMeasuredBusy(*machine->disturbed));
    } else {
      user_store.KeepMachine(target);
    }
  }
  return store.TargetOf(store.AddTarget(target));
}

}  // namespace bayloom::tuning
