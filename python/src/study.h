// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace bayloom::python {

void BindStudy(nanobind::module_& module);

}  // namespace bayloom::python
