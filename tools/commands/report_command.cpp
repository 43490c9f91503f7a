#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/event_filter_options.hpp"
#include "tools/commands/number_between.hpp"
#include "tools/commands/report.hpp"
#include "tools/text/number_list.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* report_help_begin =
    "Examples:\n"
    "  libprofile report libprofile-app-1234                             where the time goes, what changes, who differs\n"
    "  libprofile report libprofile-app-1234 --path solve                what functions with this name do and call\n"
    "  libprofile report libprofile-app-1234 --bottom-up                 the hottest functions, and who calls them\n"
    "  libprofile report libprofile-app-1234 --source solve              the lines of a function\n"
    "  libprofile report libprofile-app-1234 --compare 1:100 900:1000    the first iterations against the last\n"
    "  libprofile report libprofile-app-1234 --compare rank=3 rest       one rank against the others\n"
    "  libprofile report libprofile-app-1234 --format markdown > report.md\n\n"
    "Usage: libprofile report FOLDER [options]\n"
    "FOLDER is the one that libprofile named at the end of the job, or a profile of another tool (HPCToolkit, Score-P,\n"
    "Caliper, TAU, pprof ...): then --rank, --metric and --top choose.\n\n"
    "Which part:\n"
    "  --phase NAME         this phase only; with iterations: theirs [the one that took most time]\n"
    "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n"
    "  --exclusive          iterations without the phases inside them\n"
    "  --rank LIST          these ranks only, such as 0,4-7\n"
    "  --threads            all threads of the ranks, not only the main ones\n"
    "  --path TEXT          call paths with this text in a function's name or file, and what is below\n"
    "  --metric LIST        by these metrics, such as mpi,bytes (docs/metrics.md) [time]\n"
    "  --compare A:B C:D    two ranges of iterations against each other; or ranks: rank=0 rank=1-3, rank=0 rest\n"
    "  --top N              show N functions, call paths and ranks\n\n"
    "What of it:\n"
    "  --bottom-up          functions over all call paths, each with its callers and theirs\n"
    "  --source FUNCTION    the source lines of this function: a name, or a part that only one name has\n"
    "  --tasks              tasks of OpenMP: how many could run at once, work, span, critical path (docs/tasks.md)\n"
    "  --correlations       how long MPI calls of kept iterations take for their bytes: latency, bandwidth (docs/report.md)\n"
    "  --machine            packages, NUMA nodes, caches and cores as hwloc saw them, and the ranks on them; --format svg: drawn\n"
    "  --source-map OLD=NEW source files of the folder OLD are in NEW now; several times: the first one that has the file\n\n"
    "Which events, with --tasks and --correlations, as in the filter of the page:\n";
constexpr const char* report_help_end = "\nHow:\n"
                                        "  --format FORMAT      text, json (all, or what is chosen), csv (call paths), markdown; svg of --machine [text]\n"
                                        "  --series             with json: the metrics of every iteration, too\n"
                                        "  --trace              with json: the samples of LIBPROFILE_TRACE, too\n"
                                        "  --full-paths         call paths with every frame of the Python interpreter\n"
                                        "  --width N            columns of the text [those of the terminal, else 100]\n"
                                        "  --ascii              plain characters only; NO_COLOR=1: no colours\n"
                                        "  --follow             while the job runs: again every 5 s, or as --every S says; with json: a line each time\n"
                                        "  --every S            with --follow: seconds between renewals, at least [5]\n"
                                        "  --no-pager           do not start $PAGER (less) on a terminal\n";

class ReportCommand final : public Command {
  public:
    const char* name() const override { return "report"; }
    const char* summary() const override { return "read a profile: phases, iterations, metrics, call paths, clusters"; }
    const char* help() const override { return help_.c_str(); }

    void declare(CLI::App& app) override {
        app.add_option("folder", options_.path);
        phase_option_ = app.add_option("--phase", phase_);
        app.add_option("--iterations", iterations_);
        app.add_flag("--exclusive", options_.choice.exclusive);
        app.add_option("--rank,--ranks", ranks_);
        app.add_flag("--threads", options_.choice.threads);
        app.add_option("--path", options_.choice.path);
        app.add_option("--metric,--metrics", metrics_);
        app.add_option("--compare", sides_)->expected(2);
        app.add_flag("--bottom-up", options_.choice.bottom_up);
        app.add_option("--source", options_.choice.source);
        app.add_flag("--tasks", options_.choice.tasks);
        app.add_flag("--correlations", options_.choice.correlations);
        app.add_flag("--machine", options_.choice.machine);
        filter_.declare(app);
        app.add_option("--source-map", source_maps_)->take_all();
        app.add_option("--top", options_.choice.top)->check(CLI::Range(1, 1'000'000));
        app.add_option("--format", format_)->type_name(format_names("|"));
        app.add_option("--width", options_.width)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", options_.ascii);
        app.add_flag("--full-paths", options_.full_paths);
        app.add_flag("--trace", options_.trace);
        app.add_flag("--series", options_.series);
        app.add_flag("--follow", follow_);
        every_option_ = app.add_option("--every", every_)->check(number_between(0.1, 86400));
        app.add_flag("--no-pager", no_pager_);
    }

    int run() override {
        if (options_.path.empty()) throw UsageError("report needs the folder of a profile: libprofile report libprofile-<program>-<job>");
        options_.paged = !no_pager_;
        if (every_option_->count() != 0 && !follow_) throw UsageError("--every is for --follow");
        if (follow_) options_.follow = every_;
        parse_format();
        parse_choice();
        check_together();
        return report(options_);
    }

  private:
    static constexpr std::pair<const char*, ReportFormat> formats[] = {{"text", ReportFormat::Text},
                                                                       {"json", ReportFormat::Json},
                                                                       {"csv", ReportFormat::Csv},
                                                                       {"markdown", ReportFormat::Markdown},
                                                                       {"svg", ReportFormat::Svg}};

    static std::string format_names(const char* between) {
        std::string names;
        for (const auto& [name, format] : formats) names += fmt::format("{}{}", names.empty() ? "" : between, name);
        return names;
    }

    void parse_format() {
        for (const auto& [name, format] : formats)
            if (format_ == name) {
                options_.format = format;
                return;
            }
        throw UsageError(fmt::format("there is no format \"{}\"; report has {}, and libprofile export those of other tools", format_, format_names(", ")));
    }

    void parse_source_maps() {
        if (!source_maps_.empty() && options_.choice.source.empty()) throw UsageError("--source-map is for --source FUNCTION");
        for (const std::string& map : source_maps_) options_.source_maps.push_back(source_map_option(map));
    }

    void parse_choice() {
        ReportChoice& choice = options_.choice;
        parse_source_maps();
        if (phase_option_->count() != 0) choice.phase = phase_;
        if (!iterations_.empty()) choice.iterations = iterations_option(iterations_);
        if (!ranks_.empty()) choice.ranks = ranks_option(ranks_);
        if (!metrics_.empty()) choice.metrics = metrics_option(metrics_);
        choice.events = filter_.filter();
        if (!filter_.given().empty() && !choice.tasks && !choice.correlations)
            throw UsageError(fmt::format("{} chooses events; add --tasks or --correlations, or use libprofile export", filter_.given()));
        try {
            for (const std::string& side : sides_) choice.compare.push_back(parse_side(side));
            check(choice);
        } catch (const SelectionError& error) {
            throw UsageError(error.what());
        }
    }

    /// What makes no sense together is refused, so that nothing that was asked for is silently left out.
    void check_together() const {
        const bool is_json = options_.format == ReportFormat::Json;
        for (const auto& [given, option, what] :
             {std::tuple(options_.trace, "trace", "the samples"), std::tuple(options_.series, "series", "the values of every iteration")}) {
            if (given && !is_json) throw UsageError(fmt::format("--{} needs --format json; the text has one line about it", option));
            if (given && !options_.choice.is_whole())
                throw UsageError(fmt::format("--{} prints {} of the whole profile; leave out --phase, --rank and the other choices, "
                                             "or use libprofile export --format csv",
                                             option, what));
        }
        if (follow_ && options_.format != ReportFormat::Text && !is_json) throw UsageError(fmt::format("--follow has text and json, not {}", format_));
        if (options_.format == ReportFormat::Svg && !options_.choice.machine) throw UsageError("--format svg is a picture of the machine; add --machine");
        if (options_.width != 0 && options_.format != ReportFormat::Text)
            throw UsageError(fmt::format("--width is for text; {} has no columns to fill", format_));
        if (options_.ascii && options_.format != ReportFormat::Text)
            throw UsageError(fmt::format("--ascii is for text; {} has the names as they are", format_));
        if (options_.full_paths && is_json && options_.choice.is_whole()) throw UsageError("--full-paths is for text; json has every frame");
        if (options_.choice.compare.empty() || options_.choice.metrics.size() < 2) return;
        throw UsageError("--compare shows one metric at a time; name one with --metric");
    }

    const std::string help_ = std::string(report_help_begin) + EventFilterOptions::help + report_help_end;
    ReportOptions options_;
    EventFilterOptions filter_;
    CLI::Option* phase_option_ = nullptr;
    std::string format_ = "text", phase_, iterations_, ranks_, metrics_;
    std::vector<std::string> sides_, source_maps_;
    bool no_pager_ = false, follow_ = false;
    double every_ = 5;
    CLI::Option* every_option_ = nullptr;
};

} // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

} // namespace libprofile::tools
