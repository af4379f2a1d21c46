// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// A program that can only be a runner process, for tests to start.
#include "bayloom/measure/runner_main.h"

int main(int argc, char** argv) { return bayloom::measure::RunAsRunner(argc, argv).value_or(2); }
