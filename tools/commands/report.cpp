#include "tools/commands/report.hpp"

#include "tools/commands/add_names.hpp"
#include "tools/commands/follow.hpp"
#include "tools/commands/foreign.hpp"
#include "tools/frames/frame_report.hpp"
#include "tools/frames/shape.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/correlations.hpp"
#include "tools/report/json.hpp"
#include "tools/report/machine.hpp"
#include "tools/report/selection.hpp"
#include "tools/report/tasks.hpp"
#include "tools/report/text.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/terminal.hpp"

#include <cstdio>
#include <filesystem>

namespace libprofile::tools {

namespace {

std::string printed(const ReportDocument& document, const ReportOptions& options) {
    switch (options.format) {
    case ReportFormat::Json: return document_json(document);
    case ReportFormat::Csv: return document_csv(document);
    case ReportFormat::Markdown: return document_markdown(document);
    default: return document_text(document, style_of_output(options.width, options.ascii));
    }
}

/// Reads the profile and makes its text.
/// @param names of a job that runs; null for one that is read once
Renewal renewal_of(const ReportOptions& options, NameCache* names) {
    const ReportChoice& choice = options.choice;
    const bool for_programs = options.format == ReportFormat::Json || options.format == ReportFormat::Csv;
    const bool is_document = !choice.is_whole() || options.format == ReportFormat::Csv || options.format == ReportFormat::Markdown;
    if (is_document) {
        check(choice);
        Profile profile = read_chosen(options.path, choice);
        names != nullptr ? add_names(profile, *names) : add_names(profile, options.path, choice.is_whole());
        if (options.format == ReportFormat::Svg) {
            std::string picture = machine_svg(profile);
            return {std::move(profile), std::move(picture)};
        }
        const SelectionForm form{for_programs, options.full_paths, printable(options.path), options.source_maps};
        std::string text = printed(choice.tasks             ? task_report(profile, choice, form)
                                   : choice.machine         ? machine_report(profile, choice, form)
                                   : choice.correlations    ? correlation_report(profile, choice, form)
                                   : choice.compare.empty() ? selection_report(profile, choice, form)
                                                            : comparison_report(profile, choice, form),
                                   options);
        return {std::move(profile), std::move(text)};
    }
    Profile profile = read_profile(std::filesystem::path(options.path));
    names != nullptr ? add_names(profile, *names) : add_names(profile, options.path);
    std::string text = options.format == ReportFormat::Json
                           ? report_json(profile, {options.trace, options.series})
                           : report_text(profile, style_of_output(options.width, options.ascii), options.full_paths, printable(options.path));
    return {std::move(profile), std::move(text)};
}

/// The text of a profile of another tool; empty if it is libprofile's own.
std::optional<std::string> foreign_text(const ReportOptions& options) {
    const ReportChoice& choice = options.choice;
    constexpr const char* no_iterations = "it has no iterations";
    constexpr const char* in_page = "libprofile view shows its trees";
    std::optional<Frame> frame = foreign_profile(options.path, {{choice.phase.has_value(), "--phase", "it has no phases"},
                                                                {choice.iterations.has_value(), "--iterations", no_iterations},
                                                                {choice.exclusive, "--exclusive", no_iterations},
                                                                {!choice.compare.empty(), "--compare", no_iterations},
                                                                {options.series, "--series", no_iterations},
                                                                {options.trace, "--trace", "it has no samples of a trace"},
                                                                {options.follow != 0, "--follow", "no job writes it"},
                                                                {choice.threads, "--threads", "all its threads are counted"},
                                                                {!choice.path.empty(), "--path", in_page},
                                                                {choice.bottom_up, "--bottom-up", in_page},
                                                                {!choice.source.empty(), "--source", "it has no values of single lines"},
                                                                {choice.tasks, "--tasks", "it has no tasks"},
                                                                {choice.correlations, "--correlations", "it has no calls one by one"},
                                                                {choice.machine, "--machine", "it does not have the machine"},
                                                                {options.full_paths, "--full-paths", "its frames are all shown"}});
    if (!frame) return {};
    if (!choice.ranks.empty()) frame = at_ranks(*frame, choice.ranks);
    const bool for_programs = options.format == ReportFormat::Json || options.format == ReportFormat::Csv;
    return printed(frame_report(*frame, {choice.metrics, choice.top, for_programs}), options);
}

} // namespace

int report(const ReportOptions& options) {
    const bool for_programs = options.format == ReportFormat::Json || options.format == ReportFormat::Csv || options.format == ReportFormat::Svg;
    if (const std::optional<std::string> text = foreign_text(options)) {
        print_paged(*text, options.paged && !for_programs);
        return 0;
    }
    NameCache names;
    if (options.follow != 0) return follow(options.path, {options.follow, options.format == ReportFormat::Json}, [&] { return renewal_of(options, &names); });
    print_paged(renewal_of(options, nullptr).text, options.paged && !for_programs);
    return 0;
}

} // namespace libprofile::tools
