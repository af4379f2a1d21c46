#include "bayloom/cli/command_line.h"

int main(int argc, char** argv) { return bayloom::RunCommandLine(argc, argv); }
