#include "tools/commands/report.hpp"

#include "tools/names/expand_inlined.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/json.hpp"
#include "tools/report/selection.hpp"
#include "tools/report/text.hpp"
#include "tools/text/pager.hpp"
#include "tools/text/terminal.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

/// @param all the profile was read as a whole; names of a part would replace the others'
void add_names(Profile& profile, const std::string& path, bool all) {
    const Resolution resolution = resolve_names(profile, ::isatty(STDERR_FILENO) != 0);
    std::error_code error;
    if (resolution.added != 0 && all && std::filesystem::is_directory(path, error)) store_names(profile, path);
    expand_inlined(profile);
    for (const std::string& module : resolution.different)
        profile.notes.push_back(fmt::format("{} was rebuilt since the job ran; its functions have no names here", module));
}

std::string printed(const ReportDocument& document, const ReportOptions& options) {
    switch (options.format) {
    case ReportFormat::Json: return document_json(document);
    case ReportFormat::Csv: return document_csv(document);
    case ReportFormat::Markdown: return document_markdown(document);
    default: return document_text(document, style_of_output(options.width, options.ascii));
    }
}

std::string text_of(const ReportOptions& options) {
    const ReportChoice& choice = options.choice;
    const bool for_programs = options.format == ReportFormat::Json || options.format == ReportFormat::Csv;
    const bool is_document = !choice.is_whole() || options.format == ReportFormat::Csv || options.format == ReportFormat::Markdown;
    if (is_document) {
        check(choice);
        Profile profile = read_chosen(options.path, choice);
        add_names(profile, options.path, choice.is_whole());
        const SelectionForm form{for_programs, options.full_paths, printable(options.path)};
        return printed(choice.compare.empty() ? selection_report(profile, choice, form) : comparison_report(profile, choice, form), options);
    }
    Profile profile = read_profile(std::filesystem::path(options.path));
    add_names(profile, options.path, true);
    if (options.format == ReportFormat::Json) return report_json(profile, {options.trace, options.series});
    return report_text(profile, style_of_output(options.width, options.ascii), options.full_paths, printable(options.path));
}

} // namespace

int report(const ReportOptions& options) {
    print_paged(text_of(options), options.paged && options.format != ReportFormat::Json && options.format != ReportFormat::Csv);
    return 0;
}

} // namespace libprofile::tools
