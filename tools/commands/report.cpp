#include "tools/commands/report.hpp"

#include "tools/commands/add_names.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/json.hpp"
#include "tools/report/selection.hpp"
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

std::string text_of(const ReportOptions& options) {
    const ReportChoice& choice = options.choice;
    const bool for_programs = options.format == ReportFormat::Json || options.format == ReportFormat::Csv;
    const bool is_document = !choice.is_whole() || options.format == ReportFormat::Csv || options.format == ReportFormat::Markdown;
    if (is_document) {
        check(choice);
        Profile profile = read_chosen(options.path, choice);
        add_names(profile, options.path, choice.is_whole());
        const SelectionForm form{for_programs, options.full_paths, printable(options.path), options.source_maps};
        return printed(choice.compare.empty() ? selection_report(profile, choice, form) : comparison_report(profile, choice, form), options);
    }
    Profile profile = read_profile(std::filesystem::path(options.path));
    add_names(profile, options.path);
    if (options.format == ReportFormat::Json) return report_json(profile, {options.trace, options.series});
    return report_text(profile, style_of_output(options.width, options.ascii), options.full_paths, printable(options.path));
}

} // namespace

int report(const ReportOptions& options) {
    print_paged(text_of(options), options.paged && options.format != ReportFormat::Json && options.format != ReportFormat::Csv);
    return 0;
}

} // namespace libprofile::tools
