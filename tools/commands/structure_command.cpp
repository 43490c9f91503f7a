#include "tools/analysis/loop_ranks.hpp"
#include "tools/commands/add_names.hpp"
#include "tools/commands/chosen_parts.hpp"
#include "tools/commands/commands.hpp"
#include "tools/names/labels.hpp"
#include "tools/processes/process_document.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/rows.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/terminal.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* structure_help = "Examples:\n"
                                       "  libprofile structure libprofile-app-1234                   which ranks do the same, and which compute longer\n"
                                       "  libprofile structure libprofile-app-1234 --level visits    groups of ranks that make as many calls\n"
                                       "  libprofile structure libprofile-app-1234 --fold outliers   only where ranks are in different states\n"
                                       "  libprofile structure libprofile-app-1234 --format json     for programs\n\n"
                                       "Usage: libprofile structure FOLDER [options]\n"
                                       "FOLDER is the one that libprofile named at the end of the job. Groups have the same calls on the same call paths,\n"
                                       "whatever these take. Below is what most ranks of each group do over the iterations, and which ranks compute longer\n"
                                       "than the median rank, when, and in which function (docs/structure.md). If the job kept samples\n"
                                       "(LIBPROFILE_TRACE=1) and not the order of calls (LIBPROFILE_ORDER=1), ranks are compared by these, too.\n\n"
                                       "  --level LEVEL        what ranks of a group have in common: pairs (callers and callees), paths (call paths), visits,\n"
                                       "                       iterations (visits in each) [the finest with at most 12 groups]\n"
                                       "  --reference RANK     the rank that the others are compared with [one of the largest group of equal ranks]\n"
                                       "  --phase NAME         iterations of this phase [those that took most time]\n"
                                       "  --iterations A:B     these iterations only, counted from 1; A: and :B are open ranges\n"
                                       "  --rank LIST          these ranks only, such as 0,4-7\n"
                                       "  --threads            all threads of the ranks, not only the main ones\n"
                                       "  --state WHAT         states of ranks: class (computing, classes of MPI), function, kind (of iteration) [class]\n"
                                       "  --depth N            of functions below the begin of the call path; main() is 1 [2]\n"
                                       "  --fold WAY           one strip of many ranks: dominating (the state of most), outliers (the next one, if not all\n"
                                       "                       agree), use (computing if any rank computes) [dominating]\n"
                                       "  --top N              show N parts of ranks that compute longer [10]\n"
                                       "  --format FORMAT      text, json, markdown [text]\n"
                                       "  --width N            columns of the text [those of the terminal, else 100]\n"
                                       "  --ascii              plain characters only; NO_COLOR=1: no colours\n"
                                       "  --no-pager           do not start $PAGER (less) on a terminal\n";

/// @throws UsageError, with the nearest name
template <class Named> auto choice_named(const char* option, const std::string& name, const std::vector<std::string>& names, Named named) {
    if (const auto found = named(name)) return *found;
    std::string all;
    for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
    const std::string nearest = nearest_name(name, names);
    throw UsageError(fmt::format("{} has {}, not \"{}\"{}", option, all, name, nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
}

class StructureCommand final : public Command {
  public:
    const char* name() const override { return "structure"; }
    const char* summary() const override { return "say which ranks do the same, how they differ over time, and which compute longer"; }
    const char* help() const override { return structure_help; }

    void declare(CLI::App& app) override {
        app.add_option("folder", path_);
        app.add_option("--level", level_)->type_name("pairs|paths|visits|iterations");
        reference_option_ = app.add_option("--reference", reference_);
        phase_option_ = app.add_option("--phase", phase_);
        app.add_option("--iterations", iterations_);
        app.add_option("--rank,--ranks", ranks_);
        app.add_flag("--threads", form_.threads);
        state_option_ = app.add_option("--state", state_)->type_name("class|function|kind");
        depth_option_ = app.add_option("--depth", choice_.depth)->check(CLI::Range(1, 1000));
        fold_option_ = app.add_option("--fold", fold_)->type_name("dominating|outliers|use");
        app.add_option("--top", choice_.cells)->check(CLI::Range(1, 1'000'000));
        app.add_option("--format", format_)->type_name("text|json|markdown");
        app.add_option("--width", width_)->check(CLI::Range(80, 1000));
        app.add_flag("--ascii", ascii_);
        app.add_flag("--no-pager", no_pager_);
    }

    int run() override {
        if (path_.empty()) throw UsageError("structure needs the folder of a profile: libprofile structure libprofile-<program>-<job>");
        if (format_ != "text" && format_ != "json" && format_ != "markdown")
            throw UsageError(fmt::format("there is no format \"{}\"; structure has text, json, markdown", format_));
        if ((width_ != 0 || ascii_) && format_ != "text") throw UsageError(fmt::format("--width and --ascii are for text, not for {}", format_));
        if (!level_.empty()) choice_.level = choice_named("--level", level_, {"pairs", "paths", "visits", "iterations"}, level_named);
        choice_.state = choice_named("--state", state_, {"class", "function", "kind"}, state_named);
        form_.fold = choice_named("--fold", fold_, {"dominating", "outliers", "use"}, fold_named);
        if (depth_option_->count() != 0 && choice_.state != StateBy::Function) throw UsageError("--depth is for --state function");
        if (form_.fold == FoldBy::Use && choice_.state != StateBy::Class) throw UsageError("--fold use is for --state class, which tells what computes");
        ReportChoice parts;
        if (phase_option_->count() != 0) parts.phase = phase_;
        if (!iterations_.empty()) parts.iterations = iterations_option(iterations_);
        if (!ranks_.empty()) parts.ranks = ranks_option(ranks_);
        Profile profile = read_profile(std::filesystem::path(path_));
        add_names(profile, path_);
        print_paged(text_of(profile, parts), !no_pager_ && (format_ == "text" || format_ == "markdown"));
        return 0;
    }

  private:
    std::string text_of(const Profile& profile, ReportChoice parts) {
        form_.head = document_of(profile, parts);
        form_.everything = format_ == "json";
        ReportChoice of_ranks;
        of_ranks.ranks = parts.ranks;
        find_choice(profile, of_ranks); // tells what is no rank
        const std::vector<const Location*> locations = locations_of(profile, parts.ranks, form_.threads);
        const bool has_iterations = !iterated_phases(profile, locations).empty();
        if (!parts.iterations && has_iterations) parts.iterations = IterationRange{};
        if (parts.phase || parts.iterations) {
            choice_.phase = find_choice(profile, parts).phase;
            choice_.iterations = *parts.iterations;
        }
        if (choice_.phase && loop_ranks(locations, *choice_.phase).locations.empty())
            throw SelectionError(fmt::format("none of the chosen ranks made iterations of {}", printable(profile.phases[*choice_.phase].name)));
        for (const CLI::Option* option : {reference_option_, state_option_, fold_option_})
            if (!choice_.phase && option->count() != 0)
                throw SelectionError(fmt::format("{} is for iterations, and the profile has none; mark the loop in the program", option->get_name()));
        if (reference_option_->count() != 0) choice_.reference = reference_row(locations, *choice_.phase, reference_);
        if (reference_option_->count() != 0 && !choice_.reference)
            throw SelectionError(fmt::format("--reference {}: no such rank among those that are compared made iterations", reference_));
        const ComparedProcesses processes = compare_processes(profile, locations, choice_);
        if (format_ == "text") return process_text(profile, processes, form_, style_of_output(width_, ascii_));
        const ReportDocument document = process_document(profile, processes, form_);
        return format_ == "json" ? document_json(document) : document_markdown(document);
    }

    std::string path_, level_, phase_, iterations_, ranks_, state_ = "class", fold_ = "dominating", format_ = "text";
    ProcessChoice choice_;
    ProcessForm form_;
    std::uint32_t reference_ = 0;
    CLI::Option *reference_option_ = nullptr, *phase_option_ = nullptr, *depth_option_ = nullptr, *state_option_ = nullptr, *fold_option_ = nullptr;
    int width_ = 0;
    bool ascii_ = false, no_pager_ = false;
};

} // namespace

std::unique_ptr<Command> make_structure_command() { return std::make_unique<StructureCommand>(); }

} // namespace libprofile::tools
