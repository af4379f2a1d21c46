// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "bayloom/base.h"

int main() { std::printf("bayloom %s\n", bayloom::Version().data()); }
