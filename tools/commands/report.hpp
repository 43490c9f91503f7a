// `libprofile report`: where a job spent its time, all of it or chosen parts, as text, JSON, CSV or Markdown; its machines as a picture, too.
// Contract: one thread; writes to standard output; returns the exit code; throws ReadError, SelectionError.
#pragma once

#include "tools/names/source_text.hpp"
#include "tools/reader/model.hpp"
#include "tools/report/choice.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

enum class ReportFormat : std::uint8_t { Text, Json, Csv, Markdown, Svg };

struct ReportOptions {
    std::string path; // the profile's folder
    ReportFormat format = ReportFormat::Text;
    ReportChoice choice;
    std::vector<SourceMap> source_maps;
    bool trace = false;      // JSON: the samples of a trace, too
    bool series = false;     // JSON: the values of every iteration, too
    bool full_paths = false; // every frame of an interpreter
    int width = 0;           // columns; 0 takes those of the terminal, or 100
    bool ascii = false;      // no other characters, no colours
    bool paged = true;       // on a terminal
    double follow = 0;       // seconds between renewals while the job runs; 0: once
};

/// Reads, resolves names, prints.
/// @throws ReadError when there is no profile; SelectionError when the choice does not fit it
int report(const ReportOptions& options);

} // namespace libprofile::tools
