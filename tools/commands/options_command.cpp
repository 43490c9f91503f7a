#include "tools/commands/commands.hpp"
#include "tools/launch/settings.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

class OptionsCommand final : public Command {
  public:
    const char* name() const override { return "options"; }
    const char* summary() const override { return "describe all settings (environment variables LIBPROFILE_*)"; }
    const char* help() const override { return "Usage: libprofile options [--markdown]\nDescribes all settings of a measurement.\n"; }

    void declare(CLI::App& app) override { app.add_flag("--markdown", markdown_); }

    int run() override {
        fmt::print("{}", markdown_ ? options_markdown() : options_text(100));
        return 0;
    }

  private:
    bool markdown_ = false;
};

} // namespace

std::unique_ptr<Command> make_options_command() { return std::make_unique<OptionsCommand>(); }

} // namespace libprofile::tools
