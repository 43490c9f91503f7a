// An evaluation as text, as JSON and as figures.
// Contract: thread-safe (no state); allocates; evaluation_figures writes files. Described in docs/evaluation.md.
#pragma once

#include "tools/evaluation/evaluation.hpp"
#include "tools/reader/model.hpp"
#include "tools/text/layout.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What was evaluated.
struct EvaluationContext {
    const Profile& profile;
    const Recording& recording;
    const Evaluation& evaluation;
    std::string equivalence;         // as asked for: "auto", ...
    std::vector<std::size_t> series; // catalogue rows of Evaluation::series
};

std::string evaluation_text(const EvaluationContext& context, const TextStyle& style);
std::string evaluation_json(const EvaluationContext& context);

/// Writes the figures into `folder`, which is made when it is not there.
/// @return the names of the files
/// @throws PlotError when a file cannot be written
std::vector<std::string> evaluation_figures(const EvaluationContext& context, const std::filesystem::path& folder);

} // namespace libprofile::tools
