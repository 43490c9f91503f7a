// The command `libprofile`.
#include "tools/commands/evaluate.hpp"
#include "tools/commands/report.hpp"
#include "tools/commands/run.hpp"
#include "tools/commands/settings.hpp"
#include "tools/evaluation/recording.hpp"
#include "tools/plot/svg.hpp"
#include "tools/profile/reader.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace {

namespace tools = libprofile::tools;

constexpr const char* overview =
    "libprofile shows how a parallel (MPI) program spends its time, and how that changes while it runs.\n\n"
    "Examples:\n"
    "  mpirun -n 4 libprofile run -- ./app args   measure a job; no recompilation, any MPI, any language\n"
    "  libprofile report libprofile-app-1234      what it found, as text\n"
    "  libprofile report libprofile-app-1234 --format json > app.json\n"
    "  libprofile run --help                      the settings of a measurement\n\n"
    "Commands:\n"
    "  run       start a program with the measurement library\n"
    "  report    read a profile: phases, iterations, metrics, call paths, clusters\n"
    "  evaluate  what clustering would lose and save, tried on a job recorded in full\n"
    "  options   describe all settings (environment variables LIBPROFILE_*)\n\n"
    "libprofile COMMAND --help tells more; libprofile --version prints the version.\n";

constexpr const char* report_overview =
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

constexpr const char* evaluate_overview =
    "Examples:\n"
    "  mpirun -n 4 env LIBPROFILE_CLUSTERS=off libprofile run -- ./app args    records every iteration in "
    "full\n"
    "  libprofile evaluate libprofile-app-1234                      errors, memory and time by number of "
    "clusters\n"
    "  libprofile evaluate libprofile-app-1234 --plot figures       and figures\n\n"
    "Usage: libprofile evaluate FOLDER [options]\n"
    "Replays the clustering on the recorded iterations and compares what is left of each with the original\n"
    "(Szebenyi, Wolf, Wylie, SC 2009, section 5). docs/evaluation.md explains the numbers.\n\nOptions:\n"
    "  --phase NAME           the iterated phase [the one with most time]\n"
    "  --clusters N,N,...     numbers of clusters to try [8,16,32,64,128,256]\n"
    "  --errors P,P,...     bounds of libprofile's own method, in % [0.1,1,5]\n"
    "  --bounded-clusters K clusters of these [8]\n"
    "  --equivalence auto|strong|weak|none   what iterations of a cluster must have in common [auto]\n"
    "  --format text|json     [text]\n"
    "  --plot FOLDER          writes figures (SVG) into the folder\n"
    "  --width N              columns of the text [those of the terminal, else 100]\n"
    "  --ascii                plain characters only\n";

int usage_error(const std::string& message) {
    fmt::print(stderr, "libprofile: error: {}\n", message);
    return 2;
}

int dispatch(int argc, char** argv) {
    // The arguments of `run` belong to the program from some point on, so they are taken apart there.
    if (argc > 1 && std::string(argv[1]) == "run")
        return tools::run(std::vector<std::string>(argv + 2, argv + argc));

    CLI::App app;
    app.set_help_flag();
    bool help = false, version = false;
    app.add_flag("-h,--help", help);
    app.add_flag("--version", version);
    app.require_subcommand(0, 1);

    CLI::App* report = app.add_subcommand("report");
    report->set_help_flag();
    bool report_help = false;
    tools::ReportOptions options;
    std::string format = "text";
    report->add_flag("-h,--help", report_help);
    report->add_option("folder", options.place);
    report->add_option("--format", format)->check(CLI::IsMember({"text", "json"}));
    report->add_option("--width", options.width)->check(CLI::Range(80, 1000));
    report->add_flag("--ascii", options.ascii);
    report->add_flag("--full-paths", options.full_paths);
    report->add_flag("--trace", options.trace);
    report->add_flag("--series", options.series);

    CLI::App* evaluate = app.add_subcommand("evaluate");
    evaluate->set_help_flag();
    bool evaluate_help = false;
    tools::EvaluateOptions evaluation;
    std::string evaluation_format = "text", equivalence = tools::equivalence_modes[0];
    evaluate->add_flag("-h,--help", evaluate_help);
    evaluate->add_option("folder", evaluation.place);
    evaluate->add_option("--format", evaluation_format)->check(CLI::IsMember({"text", "json"}));
    evaluate->add_option("--plot", evaluation.figures);
    evaluate->add_option("--phase", evaluation.phase);
    evaluate->add_option("--clusters", evaluation.clusters)->delimiter(',')->check(CLI::Range(1, 4096));
    evaluate->add_option("--errors", evaluation.errors)->delimiter(',')->check(CLI::Range(0.0, 100.0));
    evaluate->add_option("--bounded-clusters", evaluation.bounded_clusters)->check(CLI::Range(1, 4096));
    evaluate->add_option("--equivalence", equivalence)
        ->check(CLI::IsMember(
            std::vector<std::string>(tools::equivalence_modes.begin(), tools::equivalence_modes.end())));
    evaluate->add_option("--width", evaluation.width)->check(CLI::Range(80, 1000));
    evaluate->add_flag("--ascii", evaluation.ascii);

    CLI::App* settings = app.add_subcommand("options");
    settings->set_help_flag();
    bool markdown = false, settings_help = false;
    settings->add_flag("--markdown", markdown);
    settings->add_flag("-h,--help", settings_help);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return usage_error(fmt::format("{}; see libprofile --help", error.what()));
    }
    if (version) {
        fmt::print("libprofile {}\n", LIBPROFILE_VERSION);
        return 0;
    }
    if (report->parsed()) {
        if (report_help) {
            fmt::print("{}", report_overview);
            return 0;
        }
        if (options.place.empty())
            return usage_error(
                "report needs the folder of a profile: libprofile report libprofile-<program>-<job>");
        options.json = format == "json";
        if ((options.trace || options.series) && !options.json)
            return usage_error(fmt::format("--{} needs --format json; the text has one line about it",
                                           options.trace ? "trace" : "series"));
        return tools::report(options);
    }
    if (evaluate->parsed()) {
        if (evaluate_help) {
            fmt::print("{}", evaluate_overview);
            return 0;
        }
        if (evaluation.place.empty())
            return usage_error(
                "evaluate needs the folder of a profile that was recorded with LIBPROFILE_CLUSTERS=off: "
                "libprofile evaluate libprofile-<program>-<job>");
        evaluation.json = evaluation_format == "json";
        const auto* mode =
            std::find(tools::equivalence_modes.begin(), tools::equivalence_modes.end(), equivalence);
        evaluation.equivalence =
            static_cast<libprofile::EquivalenceMode>(mode - tools::equivalence_modes.begin());
        return tools::evaluate(evaluation);
    }
    if (settings->parsed()) {
        if (settings_help)
            fmt::print("Usage: libprofile options [--markdown]\nDescribes all settings of a measurement.\n");
        else
            fmt::print("{}", markdown ? tools::options_markdown() : tools::options_text(100));
        return 0;
    }
    if (help) {
        fmt::print("{}", overview);
        return 0;
    }
    fmt::print(stderr, "{}", overview);
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const int code = dispatch(argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            fmt::print(
                stderr,
                "libprofile: error: cannot write to standard output; free some space or redirect it\n");
            return 1;
        }
        return code;
    } catch (const tools::ReadError& error) {
        fmt::print(stderr, "libprofile: error: {}\n", error.what());
    } catch (const tools::NotRecordedInFull& error) {
        fmt::print(stderr, "libprofile: error: {}\n", error.what());
    } catch (const tools::PlotError& error) {
        fmt::print(stderr, "libprofile: error: {}\n", error.what());
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "libprofile: error: out of memory; read the profile on a larger machine\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "libprofile: error: {}; please report this\n", error.what());
    }
    return 1;
}
