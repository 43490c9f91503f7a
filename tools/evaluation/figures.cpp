#include "tools/evaluation/report.hpp"
#include "tools/plot/charts.hpp"
#include "tools/plot/series_figure.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* over_k = "clusters (K)";

/// For an axis of powers of ten.
std::string decimal_bytes(double value) {
    return value < 1e3   ? fmt::format("{:g} B", value)
           : value < 1e6 ? fmt::format("{:g} kB", value / 1e3)
           : value < 1e9 ? fmt::format("{:g} MB", value / 1e6)
                         : fmt::format("{:g} GB", value / 1e9);
}

class Figures {
  public:
    Figures(const EvaluationContext& context, std::filesystem::path folder) : context_(context), folder_(std::move(folder)) {
        for (const Score& score : context.evaluation.scores)
            if (score.is_reference) scores_.push_back(score);
        for (const Score& score : scores_) settings_.push_back(score.label);
    }

    void draw() {
        phantoms();
        whole_iterations();
        call_paths();
        orders("call-path-orders-time.svg", "MPI times of call paths: errors by order of magnitude", &CellErrors::event_time);
        orders("call-path-orders-counts.svg", "MPI counts and bytes of call paths: errors by order of magnitude", &CellErrors::event_count);
        clustering_time();
        memory();
        for (std::size_t s = 0; s < context_.series.size(); ++s) series(s);
    }

    std::vector<std::string> files;

  private:
    void save(const Svg& svg, const std::string& name) {
        svg.save(folder_ / name);
        files.push_back(name);
    }

    template <class Value> Line line(const std::string& name, int colour, bool dashed, Value value) const {
        Line line{name, {}, colour, dashed};
        for (const Score& score : scores_) line.values.push_back(value(score));
        return line;
    }

    void phantoms() {
        const auto none = [](const Score& s) { return s.phantoms_without_equivalence.value_or(Phantoms{}); };
        save(line_chart({"Phantom call paths", over_k, "share of reconstructed call paths"}, settings_,
                        {line("all, no equivalence", 0, false, [&](const Score& s) { return none(s).share(); }),
                         line("MPI, no equivalence", 1, false, [&](const Score& s) { return none(s).mpi_share(); }),
                         line("all, equivalence " + context_.equivalence, 0, true, [](const Score& s) { return s.phantoms.share(); }),
                         line("MPI, equivalence " + context_.equivalence, 1, true, [](const Score& s) { return s.phantoms.mpi_share(); })},
                        false),
             "phantoms.svg");
    }

    void whole_iterations() {
        save(line_chart({"Errors of whole iterations", over_k, "mean error / average of the metric"}, settings_,
                        {line("times, mean", 0, false, [](const Score& s) { return s.whole.time.of_mean; }),
                         line("times, maximum", 0, true, [](const Score& s) { return s.whole.time.of_maximum; }),
                         line("counts, mean", 1, false, [](const Score& s) { return s.whole.count.of_mean; }),
                         line("counts, maximum", 1, true, [](const Score& s) { return s.whole.count.of_maximum; })},
                        false),
             "whole-iterations.svg");
    }

    void call_paths() {
        save(line_chart({"Errors of call paths", over_k, "mean error / largest value of the metric"}, settings_,
                        {line("event times", 0, false, [](const Score& s) { return s.cells.event_time.mean(); }),
                         line("event counts, bytes", 1, false, [](const Score& s) { return s.cells.event_count.mean(); }),
                         line("sampled times", 2, true, [](const Score& s) { return s.cells.sampled_time.mean(); })},
                        true),
             "call-paths.svg");
    }

    void orders(const std::string& name, const std::string& title, CellError CellErrors::*which) {
        std::vector<std::vector<double>> shares;
        for (const Score& score : scores_) {
            std::vector<double>& bar = shares.emplace_back();
            for (std::size_t b = 0; b < error_buckets.size(); ++b) bar.push_back((score.cells.*which).share(b));
        }
        save(share_chart({title, over_k, "share of the values"}, settings_, std::vector<std::string>(error_buckets.begin(), error_buckets.end()), shares),
             name);
    }

    void clustering_time() {
        save(line_chart({"Clustering time", over_k, "share of the iteration's time"}, settings_,
                        {line("mean", 0, false, [](const Score& s) { return s.time.mean_share; }),
                         line("largest of an iteration", 1, false, [](const Score& s) { return s.time.largest_share; })},
                        true),
             "clustering-time.svg");
    }

    void memory() {
        const auto locations = static_cast<double>(context_.recording.locations.size());
        const auto running = [=](const MethodMemory& m) { return static_cast<double>(m.running_event_bytes + m.running_sampled_bytes) / locations; };
        const auto stored = [=](const MethodMemory& m) { return static_cast<double>(m.stored_event_bytes + m.stored_sampled_bytes) / locations; };
        const MethodMemory& full = context_.evaluation.full;
        save(line_chart({"Memory per location", over_k, "size", decimal_bytes}, settings_,
                        {line("running", 0, false, [&](const Score& s) { return running(s.memory); }),
                         line("running, in full", 0, true, [&](const Score&) { return running(full); }),
                         line("file", 1, false, [&](const Score& s) { return stored(s.memory); }),
                         line("file, in full", 1, true, [&](const Score&) { return stored(full); })},
                        true),
             "memory.svg");
    }

    /// Nothing for a metric that is 0 everywhere.
    void series(std::size_t s) {
        const LocationSeries& original = context_.evaluation.series[s];
        const bool zero = std::all_of(original.begin(), original.end(),
                                      [](const auto& line) { return std::all_of(line.begin(), line.end(), [](double v) { return v == 0; }); });
        if (zero) return;
        std::vector<SeriesPanel> panels{{"original", &original}};
        for (const Score& score : context_.evaluation.scores)
            if (score.is_reference || score.label == "default") panels.push_back({score.is_reference ? "K=" + score.label : "bounded", &score.series[s]});
        const auto& locations = context_.recording.locations;
        const bool ranks = std::all_of(locations.begin(), locations.end(), [](const auto& l) { return l.thread == 0; });
        const CatalogueRow& row = metric_catalogue[context_.series[s]];
        save(series_figure(fmt::format("{} per iteration", row.label), row.unit, ranks ? "rank" : "location", panels), fmt::format("series-{}.svg", row.name));
    }

    const EvaluationContext& context_;
    std::vector<Score> scores_; // of the reference
    std::filesystem::path folder_;
    std::vector<std::string> settings_;
};

} // namespace

std::vector<std::string> evaluation_figures(const EvaluationContext& context, const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw PlotError(fmt::format("cannot make the folder {}: {}; choose another one for the figures", folder.string(), error.message()));
    Figures figures(context, folder);
    figures.draw();
    return figures.files;
}

} // namespace libprofile::tools
