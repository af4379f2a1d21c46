#include "bayloom/cli/command_line.h"
#include "bayloom/measure/runner_main.h"

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::RunAsRunner(argc, argv)) return *code;
  return bayloom::RunCommandLine(argc, argv);
}
