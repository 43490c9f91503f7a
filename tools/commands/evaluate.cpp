#include "tools/commands/evaluate.hpp"

#include "tools/evaluation/bounded_method.hpp"
#include "tools/evaluation/report.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/reader.hpp"
#include "tools/text/terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

/// Metrics of iteration graphs and value maps: those of the paper's Figs. 8 and 9, and the total.
std::vector<std::size_t> metrics_to_draw() {
    std::vector<std::size_t> rows;
    for (const CatalogueId id : {CatalogueId::Total, CatalogueId::Mpi, CatalogueId::MpiPointToPoint, CatalogueId::P2pComms, CatalogueId::Bytes})
        rows.push_back(static_cast<std::size_t>(id));
    return rows;
}

/// One line that is written over, from one second on.
class ProgressLine {
  public:
    void operator()(const std::string& what, double done) {
        const auto now = std::chrono::steady_clock::now();
        if (::isatty(STDERR_FILENO) == 0 || now - begin_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(100)) return;
        last_ = now;
        fmt::print(stderr, "\r\x1b[Klibprofile: {} ... {:.0f} %", what, done * 100);
        std::fflush(stderr);
    }
    ~ProgressLine() {
        if (last_ != std::chrono::steady_clock::time_point{}) fmt::print(stderr, "\r\x1b[K");
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point last_{};
};

Evaluation replay(const Recording& recording, const EvaluateOptions& options, const std::vector<std::size_t>& series) {
    std::vector<std::uint32_t> numbers = options.clusters;
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    const auto memory = std::make_shared<ReplayMemory>();
    std::vector<Candidate> candidates;
    candidates.reserve(numbers.size());
    for (const std::uint32_t k : numbers)
        candidates.push_back(
            {std::to_string(k), k, true, reference_factory(memory, k, options.equivalence), reference_factory(memory, k, EquivalenceChoice::None)});
    const auto bounded = [&](const std::string& label, std::uint32_t k, const SeriesSettings& settings) {
        candidates.push_back({label, k, false, bounded_factory(memory, k, options.equivalence, settings), {}});
    };
    for (const double percent : options.errors) {
        SeriesSettings settings;
        settings.time_error_ppm = settings.bytes_error_ppm = static_cast<std::uint32_t>(percent * 10000);
        bounded(fmt::format("{:g}%", percent), options.bounded_clusters.back(), settings);
    }
    for (const std::uint32_t k : options.bounded_clusters) bounded(fmt::format("auto {}", k), k, {});
    bounded("default", 16, {});
    ProgressLine progress;
    EvaluationSettings settings;
    settings.series = series;
    settings.progress = [&](const std::string& what, double done) { progress("replaying " + what, done); };
    return evaluate(recording, candidates, settings);
}

} // namespace

int evaluate(const EvaluateOptions& options) {
    ProgressLine progress;
    Profile profile = read_profile(std::filesystem::path(options.path));
    resolve_names(profile, false); // phases of loops that were found are named after functions
    progress("reading", 1);
    const Recording recording = extract_recording(profile, options.phase);
    const std::vector<std::size_t> series = options.figures.empty() ? std::vector<std::size_t>{} : metrics_to_draw();
    const Evaluation evaluation = replay(recording, options, series);
    const EvaluationContext context{profile, recording, evaluation, equivalence_modes[static_cast<std::size_t>(options.equivalence)], series};
    const std::string text = options.json ? evaluation_json(context) : evaluation_text(context, style_of_output(options.width, options.ascii));
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (options.figures.empty()) return 0;
    const std::vector<std::string> files = evaluation_figures(context, options.figures);
    fmt::print(stderr, "libprofile: {} figures in {}\n", files.size(), printable(options.figures));
    return 0;
}

} // namespace libprofile::tools
