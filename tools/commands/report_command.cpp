#include "tools/commands/commands.hpp"
#include "tools/commands/report.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* help_text =
    "Examples:\n"
    "  libprofile report libprofile-app-1234                  as text\n"
    "  libprofile report libprofile-app-1234 | less\n"
    "  libprofile report libprofile-app-1234 --format json    everything, for programs\n\n"
    "Usage: libprofile report FOLDER [options]\n"
    "FOLDER is the one that libprofile named at the end of the job.\n\nOptions:\n"
    "  --format text|json   [text]\n"
    "  --series             with json: the metrics of every iteration, too\n"
    "  --trace              with json: the samples of LIBPROFILE_TRACE, too\n"
    "  --full-paths         call paths with every frame of the Python interpreter\n"
    "  --width N            columns of the text [those of the terminal, else 100]\n"
    "  --ascii              plain characters only\n";

class ReportCommand final : public Command {
  public:
    const char* name() const override { return "report"; }
    const char* summary() const override { return "read a profile: phases, iterations, metrics, call paths, clusters"; }
    const char* help() const override { return help_text; }

    void declare(CLI::App& app) override {
        app.add_option("folder", options_.place);
        app.add_option("--format", format_)->check(CLI::IsMember({"text", "json"}));
        app.add_option("--width", options_.width)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", options_.ascii);
        app.add_flag("--full-paths", options_.full_paths);
        app.add_flag("--trace", options_.trace);
        app.add_flag("--series", options_.series);
    }

    int run() override {
        if (options_.place.empty())
            throw UsageError("report needs the folder of a profile: libprofile report libprofile-<program>-<job>");
        options_.json = format_ == "json";
        if ((options_.trace || options_.series) && !options_.json)
            throw UsageError(fmt::format("--{} needs --format json; the text has one line about it",
                                         options_.trace ? "trace" : "series"));
        return report(options_);
    }

  private:
    ReportOptions options_;
    std::string format_ = "text";
};

} // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

} // namespace libprofile::tools
