#include <cstdio>

#include "bayloom/base/version.h"

int main() { std::printf("bayloom %s\n", bayloom::Version().data()); }
