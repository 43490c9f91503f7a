#include "tools/analysis/totals.hpp"
#include "tools/commands/add_names.hpp"
#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/commands/follow.hpp"
#include "tools/commands/number_between.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/diagnosis.hpp"
#include "tools/report/rows.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/terminal.hpp"
#include "tools/timeseries/parameter_table.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* diagnose_help = "Examples:\n"
                                      "  libprofile diagnose libprofile-app-1234                       what made the run longer than it could be\n"
                                      "  libprofile diagnose libprofile-app-1234 --iterations 100:200  in these iterations only\n"
                                      "  libprofile diagnose libprofile-app-1234 --format json         for programs\n\n"
                                      "Usage: libprofile diagnose FOLDER [options]\n"
                                      "FOLDER is the one that libprofile named at the end of the job. Each cause has its ranks, iterations and\n"
                                      "function, what the run would gain without it, and the command that shows it (docs/diagnosis.md). If the\n"
                                      "job kept a trace (LIBPROFILE_TRACE=1), a second part has segments, clusters of ranks, and loops.\n\n"
                                      "  --phase NAME         iterations of this phase only [those that took most time]\n"
                                      "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n"
                                      "  --least PERCENT      leave out causes that cost less of the run [1]\n"
                                      "  --top N              show N causes, segments and loops [10]\n"
                                      "  --parameter NAME=VALUE\n"
                                      "                       a parameter of the part by the trace, as below; may be repeated\n"
                                      "  --format FORMAT      text, json, markdown [text]\n"
                                      "  --width N            columns of the text [those of the terminal, else 100]\n"
                                      "  --ascii              plain characters only; NO_COLOR=1: no colours\n"
                                      "  --follow             while the job runs: again every 5 s, or as --every S says; with json: a line each time\n"
                                      "  --every S            with --follow: seconds between renewals, at least [5]\n"
                                      "  --no-pager           do not start $PAGER (less) on a terminal\n\n"
                                      "Parameters of the part by the trace, with those of Wei and Mellor-Crummey (ICS 2018) as defaults:\n";

class DiagnoseCommand final : public Command {
  public:
    const char* name() const override { return "diagnose"; }
    const char* summary() const override { return "say what made the run longer than it could be, and where"; }
    const char* help() const override { return help_.c_str(); }

    void declare(CLI::App& app) override {
        app.add_option("folder", path_);
        phase_option_ = app.add_option("--phase", phase_);
        app.add_option("--iterations", iterations_);
        app.add_option("--least", least_)->check(number_between(0.1, 100));
        app.add_option("--top", top_)->check(CLI::Range(1, 1'000'000));
        app.add_option("--parameter", settings_)->allow_extra_args(false);
        app.add_option("--format", format_)->type_name("text|json|markdown");
        app.add_option("--width", width_)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", ascii_);
        app.add_flag("--follow", follow_);
        every_option_ = app.add_option("--every", every_)->check(number_between(0.1, 86400));
        app.add_flag("--no-pager", no_pager_);
    }

    int run() override {
        if (path_.empty()) throw UsageError("diagnose needs the folder of a profile: libprofile diagnose libprofile-<program>-<job>");
        if (format_ != "text" && format_ != "json" && format_ != "markdown")
            throw UsageError(fmt::format("there is no format \"{}\"; diagnose has text, json, markdown", format_));
        if ((width_ != 0 || ascii_) && format_ != "text") throw UsageError(fmt::format("--width and --ascii are for text, not for {}", format_));
        if (phase_option_->count() != 0) choice_.phase = phase_;
        if (!iterations_.empty()) choice_.iterations = iterations_option(iterations_);
        for (const std::string& setting : settings_)
            if (const auto wrong = set_parameter(parameters_, setting)) throw UsageError("--parameter: " + *wrong);
        if (every_option_->count() != 0 && !follow_) throw UsageError("--every is for --follow");
        if (follow_ && format_ == "markdown") throw UsageError("--follow has text and json, not markdown");
        NameCache names;
        if (follow_) return follow(path_, {every_, format_ == "json"}, [&] { return renewal(&names); });
        print_paged(renewal(nullptr).text, !no_pager_ && format_ != "json");
        return 0;
    }

  private:
    /// @param names of a job that runs; null for one that is read once
    Renewal renewal(NameCache* names) const {
        Profile profile = read_profile(std::filesystem::path(path_));
        names != nullptr ? add_names(profile, *names) : add_names(profile, path_);
        std::string text = text_of(profile);
        return {std::move(profile), std::move(text)};
    }

    std::string text_of(const Profile& profile) const {
        DiagnosisChoice choice;
        choice.least = least_ / 100;
        choice.most = top_;
        if (choice_.phase || choice_.iterations) choice.phase = found_phase(profile);
        if (choice_.iterations) choice.iterations = *choice_.iterations;
        const DiagnosedRun run = diagnose(profile, choice);
        const std::string& folder = path_;
        const BinaryLoops loops(profile);
        std::optional<TraceAnalysis> analysis;
        std::optional<TraceReport> trace;
        if (has_trace(profile)) {
            analysis.emplace(analyse_trace(profile, loops, parameters_));
            trace.emplace(TraceReport{profile, *analysis, loops, top_, choice_.phase || choice_.iterations});
        }
        if (format_ == "json") return diagnosis_json(profile, run, folder, trace ? &*trace : nullptr);
        const ReportDocument head = document_of(profile, choice_);
        if (format_ == "markdown") return diagnosis_markdown(head, run, folder) + (trace ? trace_markdown(*trace) : "");
        const TextStyle style = style_of_output(width_, ascii_);
        return diagnosis_text(head, run, folder, style) + (trace ? trace_text(*trace, style) : "");
    }

    /// @throws SelectionError, which names the nearest phase or the range
    std::uint32_t found_phase(const Profile& profile) const {
        const FoundChoice found = find_choice(profile, choice_);
        if (profile.phases[found.phase].kind != PhaseKind::Iterations)
            throw SelectionError(fmt::format("phase \"{}\" has no iterations; leave out --phase to compare ranks over the whole run",
                                             printable(profile.phases[found.phase].name)));
        return found.phase;
    }

    const std::string help_ = diagnose_help + parameter_lines();
    std::string path_, phase_, iterations_, format_ = "text";
    std::vector<std::string> settings_;
    TimeSeriesParameters parameters_;
    ReportChoice choice_;
    CLI::Option* phase_option_ = nullptr;
    double least_ = 1;
    std::size_t top_ = 10;
    int width_ = 0;
    bool ascii_ = false, no_pager_ = false, follow_ = false;
    double every_ = 5;
    CLI::Option* every_option_ = nullptr;
};

} // namespace

std::unique_ptr<Command> make_diagnose_command() { return std::make_unique<DiagnoseCommand>(); }

} // namespace libprofile::tools
