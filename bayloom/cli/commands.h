#pragma once

namespace CLI {
class App;
}

namespace bayloom {

// Each adds one subcommand, which runs while the command line is parsed. Subcommands throw
// InputError for what a person can put right.

void AddTuneCommand(CLI::App& app);
void AddShowCommand(CLI::App& app);
void AddRecordsCommand(CLI::App& app);

}  // namespace bayloom
