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
    auto provisional = user_store.ProvisionalMachine(target);
    if (provisional && notices.is_busy(target.cores)) target.machine = std::move(provisional);
  }
  if (!target.machine) {
    notices.measuring();
    const Result<measure::MeasuredMachine> machine = measure::MeasuredMachineOf(target);
    if (!machine) throw InputError(machine.error().message);
    target.machine = machine->model;
    if (machine->disturbed) {
      notices.disturbed(measure::DescribeMeasuredBusy(*machine->disturbed));
    }
    user_store.KeepMachine(target, machine->disturbed.has_value());
  }
  return store.TargetOf(store.AddTarget(target));
}

}  // namespace bayloom::tuning
