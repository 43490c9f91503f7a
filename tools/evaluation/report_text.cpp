#include "tools/evaluation/report.hpp"
#include "tools/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace libprofile::tools {

namespace {

/// A share with two significant digits, however small: errors of 0 and errors close to 0 are different things.
std::string error(double share) {
    const double value = share * 100;
    if (value == 0) return "0 %";
    if (value < 0.0001) return "<0.0001 %";
    if (value < 0.0995) {
        const int digits = 1 - static_cast<int>(std::floor(std::log10(value)));
        return fmt::format("{:.{}f} %", value, std::min(digits, 4));
    }
    return fmt::format("{:.{}f} %", value, value < 9.95 ? 2 : value < 99.95 ? 1 : 0);
}

std::string error_of(const CellError& cells) { return cells.cells == 0 ? "-" : error(cells.mean()); }
std::string largest_of(const CellError& cells) { return cells.cells == 0 ? "-" : error(cells.largest); }

std::string joined(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
    return out;
}

class Writer {
  public:
    Writer(const EvaluationContext& context, const TextStyle& style)
        : context_(context), evaluation_(context.evaluation), style_(style), locations_(static_cast<double>(context.recording.locations.size())) {}

    std::string text() {
        header();
        answer();
        application();
        phantoms();
        whole_iterations();
        call_paths();
        orders("Event times by order of magnitude", &CellErrors::event_time);
        orders("Event counts and bytes by order of magnitude", &CellErrors::event_count);
        time();
        memory();
        return out_;
    }

  private:
    void heading(const std::string& title) { out_ += "\n" + tinted(style_, Tint::Heading, title) + "\n"; }
    void note(const std::string& text) {
        for (const std::string& line : wrapped(text, static_cast<std::size_t>(style_.width) - 2)) out_ += "  " + tinted(style_, Tint::Dim, line) + "\n";
    }
    static std::string k(const Score& score) { return score.label; }
    /// Mean over locations.
    std::string bytes(std::uint64_t sum) const { return byte_size(static_cast<double>(sum) / locations_); }

    void header() {
        const Characteristics& c = evaluation_.characteristics;
        const std::string& command = context_.profile.job.command;
        out_ += tinted(style_, Tint::Title, fmt::format("Clustering of \"{}\"", context_.recording.phase)) + "\n  " +
                keep_end(style_, command, static_cast<std::size_t>(style_.width) - 4) + "\n";
        out_ += fmt::format("  {} locations, {} iterations; equivalence {}\n", c.locations, range(c.iterations), context_.equivalence);
        for (const std::string& text : context_.recording.notes) out_ += tinted(style_, Tint::Warning, "  note: " + text) + "\n";
        if (!context_.recording.other_phases.empty()) note("other iterated phases (--phase NAME): " + joined(context_.recording.other_phases));
    }

    static std::string range(const LocalRange& range) {
        return range.least == range.most ? count(static_cast<double>(range.most))
                                         : fmt::format("{} to {}", count(static_cast<double>(range.least)), count(static_cast<double>(range.most)));
    }

    void answer() {
        heading("Error and memory: the reference by its number of clusters (K), and bounded by its error (%)");
        Table table({"\nK", "whole\ntime", "whole\ncounts", "event\ntime", "largest\nof one", "event\ncounts", "phantom\nMPI", "memory\nrunning",
                     "memory\nin file", "file\nof full", "time\nspent"});
        const std::uint64_t full_bytes = evaluation_.full.stored_event_bytes + evaluation_.full.stored_sampled_bytes;
        for (const Score& s : evaluation_.scores) {
            const std::uint64_t stored = s.memory.stored_event_bytes + s.memory.stored_sampled_bytes;
            table.row({k(s), error(s.whole.time.of_mean), error(s.whole.count.of_mean), error_of(s.cells.event_time), largest_of(s.cells.event_time),
                       error_of(s.cells.event_count), error(s.phantoms.mpi_share()), bytes(s.memory.running_event_bytes + s.memory.running_sampled_bytes),
                       bytes(stored), error(static_cast<double>(stored) / static_cast<double>(full_bytes)), error(s.time.mean_share)});
        }
        table.row({"full", "0 %", "0 %", "0 %", "0 %", "0 %", "0 %", bytes(evaluation_.full.running_event_bytes + evaluation_.full.running_sampled_bytes),
                   bytes(full_bytes), "100 %", "-"});
        out_ += table.text(style_);
        out_ += "\n";
        note("whole: mean error of a whole iteration's times, counts (mean over locations), relative to the "
             "average");
        note("event: mean error of a value of an MPI call path in an iteration, relative to the metric's "
             "largest one at that "
             "location; largest of one: the worst single time");
        note("phantom MPI: of the MPI call paths in a reconstructed iteration, the share that it did not "
             "visit");
        note("memory: bytes per location, all cells, running and in the file; time spent: on clustering, of "
             "the iterations' time");
        note(recommendation());
        against_the_reference();
    }

    /// Event cells of the bounded method against those of the reference with the paper's K=64, if that was tried.
    void against_the_reference() {
        const Score* reference = nullptr;
        for (const Score& s : evaluation_.scores)
            if (s.is_reference && (s.clusters == 64 || reference == nullptr || (reference->clusters != 64 && s.clusters > reference->clusters))) reference = &s;
        if (reference == nullptr || reference == &evaluation_.scores.back() || reference->cells.event_time.cells == 0) return;
        heading(fmt::format("MPI call paths of single iterations: bounded against the reference with K={}", reference->clusters));
        Table table({"\n", "clusters\n(K)", "time\nerror", "of the\nreference's", "largest\nof one", "count\nerror", "memory\nrunning", "of the\nreference's",
                     "memory\nin file", "of the\nreference's", "40 % and\nhalf"});
        const auto ratio = [](double part, double whole) { return whole == 0 ? std::string("-") : fmt::format("{:.0f} %", 100 * part / whole); };
        for (const Score& s : evaluation_.scores) {
            if (s.is_reference && &s != reference) continue;
            const auto running = static_cast<double>(s.memory.running_event_bytes);
            const auto stored = static_cast<double>(s.memory.stored_event_bytes);
            const bool is_better = !s.is_reference && running <= 0.4 * static_cast<double>(reference->memory.running_event_bytes) &&
                                   s.cells.event_time.mean() <= 0.5 * reference->cells.event_time.mean() && s.whole.time.of_mean == 0 &&
                                   s.whole.count.of_mean == 0 && s.phantoms.mpi_share() == 0;
            table.row({s.is_reference ? "reference" : s.label, std::to_string(s.clusters), error_of(s.cells.event_time),
                       ratio(s.cells.event_time.mean(), reference->cells.event_time.mean()), largest_of(s.cells.event_time), error_of(s.cells.event_count),
                       bytes(s.memory.running_event_bytes), ratio(running, static_cast<double>(reference->memory.running_event_bytes)),
                       bytes(s.memory.stored_event_bytes), ratio(stored, static_cast<double>(reference->memory.stored_event_bytes)),
                       s.is_reference ? ""
                       : is_better    ? "yes"
                                      : "no"});
        }
        out_ += table.text(style_);
        note("N%: LIBPROFILE_ERROR=N%, which holds for times and bytes; auto K: LIBPROFILE_CLUSTERS=K, and default: nothing set, with 0.25% at "
             "most for times, and bytes exactly. Bounded keeps whole iterations exactly, and that is in its memory");
        note("40 % and half: running, it takes at most 40 % of the memory of the reference, its error is at most half as large, whole "
             "iterations are exact and no call path is made up");
    }

    /// The least K from which on a condition holds.
    template <class Condition> std::string least(Condition holds) const {
        std::optional<std::uint32_t> from;
        for (const Score& s : evaluation_.scores) {
            if (!s.is_reference) continue;
            if (!holds(s))
                from.reset();
            else if (!from)
                from = s.clusters;
        }
        return from ? fmt::format("from K={} on", *from) : "with none of these K";
    }

    std::string recommendation() const {
        return fmt::format("=> Iteration times are right to 1 % on average {}, to 5 % {}; times of MPI call "
                           "paths to 0.1 % on average {}.",
                           least([](const Score& s) { return s.whole.time.of_mean < 0.01; }), least([](const Score& s) { return s.whole.time.of_mean < 0.05; }),
                           least([](const Score& s) { return s.cells.event_time.mean() < 0.001; }));
    }

    void application() {
        const Characteristics& c = evaluation_.characteristics;
        heading("The application (Table 2)");
        Table table({"\ncall paths", "\ndistinct", "\ntotal", "per iteration\nmin", "per iteration\navg", "per iteration\nmax"});
        for (const auto& [name, paths] : {std::pair{"all", &c.all}, std::pair{"MPI", &c.mpi}})
            table.row({name, count(static_cast<double>(paths->distinct)), count(static_cast<double>(paths->total)), count(static_cast<double>(paths->minimum)),
                       fmt::format("{:.1f}", paths->average), count(static_cast<double>(paths->maximum))});
        out_ += table.text(style_);
        out_ += fmt::format("  run time {}; call-tree equivalence classes per location: {} weak, {} strong\n", duration(static_cast<double>(c.wall_ns), style_),
                            range(c.weak_classes), range(c.strong_classes));
        note("total: pairs of iteration and call path, locations together; per iteration: of one location");
    }

    void phantoms() {
        heading("Phantom call paths (Fig. 3)");
        Table table({"\nK", "\nall paths", "\nMPI paths", "without equivalence\nall paths", "without equivalence\nMPI paths", "\nin the end"});
        for (const Score& s : evaluation_.scores) {
            const std::optional<Phantoms>& none = s.phantoms_without_equivalence;
            table.row({k(s), error(s.phantoms.share()), error(s.phantoms.mpi_share()), none ? error(none->share()) : "-", none ? error(none->mpi_share()) : "-",
                       joined(s.remarks)});
        }
        out_ += table.text(style_);
        note("share of the call paths of reconstructed iterations that the iteration did not visit. Paths "
             "other than MPI's are random samples, so most of them are bound to be phantoms");
    }

    void whole_iterations() {
        heading("Errors of whole iterations (Fig. 4)");
        Table table({"\nK", "time metrics\nmean", "time metrics\nmaximum", "count metrics\nmean", "count metrics\nmaximum"});
        for (const Score& s : evaluation_.scores)
            table.row({k(s), error(s.whole.time.of_mean), error(s.whole.time.of_maximum), error(s.whole.count.of_mean), error(s.whole.count.of_maximum)});
        out_ += table.text(style_);
        note("mean: of the mean over locations; maximum: of the maximum over locations. Mean over "
             "iterations, relative to the "
             "metric's average, then mean over the metrics that are not 0 (each in --format json)");
    }

    void call_paths() {
        heading("Errors of call paths (Fig. 5)");
        Table table({"\nK", "event time\nmean", "event time\nlargest", "counts\nmean", "counts\nlargest", "sampled time\nmean", "sampled time\nlargest",
                     "samples\nmean", "samples\nlargest"});
        for (const Score& s : evaluation_.scores)
            table.row({k(s), error_of(s.cells.event_time), largest_of(s.cells.event_time), error_of(s.cells.event_count), largest_of(s.cells.event_count),
                       error_of(s.cells.sampled_time), largest_of(s.cells.sampled_time), error_of(s.cells.sampled_count), largest_of(s.cells.sampled_count)});
        out_ += table.text(style_);
        note("exclusive values that are not 0 in the original, relative to the largest one of the metric "
             "in all call paths (event values: in all MPI call paths) and iterations of the location");
        if (!evaluation_.scores.empty()) {
            const CellErrors& cells = evaluation_.scores.front().cells;
            note(fmt::format("cells: {} event times, {} event counts, {} sampled times, {} sample counts", count(static_cast<double>(cells.event_time.cells)),
                             count(static_cast<double>(cells.event_count.cells)), count(static_cast<double>(cells.sampled_time.cells)),
                             count(static_cast<double>(cells.sampled_count.cells))));
        }
    }

    void orders(const std::string& title, CellError CellErrors::*which) {
        heading(title + " (Fig. 6)");
        std::vector<std::string> headings{"K"};
        headings.insert(headings.end(), error_buckets.begin(), error_buckets.end());
        Table table(headings);
        for (const Score& s : evaluation_.scores) {
            std::vector<std::string> row{k(s)};
            for (std::size_t b = 0; b < error_buckets.size(); ++b) row.push_back(error((s.cells.*which).share(b)));
            table.row(row);
        }
        out_ += table.text(style_);
        note("share of the cells whose error is in this order of magnitude; 0 means exact");
    }

    void time() {
        heading("Clustering time (Fig. 7)");
        Table table({"\nK", "per iteration\nmean", "per iteration\nlargest", "of its time\nmean", "of its time\nlargest"});
        for (const Score& s : evaluation_.scores)
            table.row({k(s), duration(s.time.mean_ns, style_), duration(s.time.largest_ns, style_), error(s.time.mean_share), error(s.time.largest_share)});
        out_ += table.text(style_);
        note("measured here, while replaying: the least of three replays of each iteration, against its time "
             "in the job");
    }

    void memory() {
        heading("Memory per location");
        Table table(
            {"\nK", "running\nevents", "running\nsampled", "in the file\nevents", "in the file\nsampled", "file of full\nevents", "file of full\nsampled"});
        const MethodMemory& full = evaluation_.full;
        const auto share = [](std::uint64_t part, std::uint64_t whole) {
            return whole == 0 ? std::string("-") : error(static_cast<double>(part) / static_cast<double>(whole));
        };
        const auto row = [&](const std::string& name, const MethodMemory& m) {
            table.row({name, bytes(m.running_event_bytes), bytes(m.running_sampled_bytes), bytes(m.stored_event_bytes), bytes(m.stored_sampled_bytes),
                       share(m.stored_event_bytes, full.stored_event_bytes), share(m.stored_sampled_bytes, full.stored_sampled_bytes)});
        };
        for (const Score& s : evaluation_.scores) row(k(s), s.memory);
        row("full", full);
        out_ += table.text(style_);
        note("running: cells of 16 bytes; with the events 4 bytes per iteration and K*K/2 distances of 4 "
             "bytes. In the file: as coded; with the events the records of the clusters and the clusters of "
             "the iterations");
    }

    const EvaluationContext& context_;
    const Evaluation& evaluation_;
    TextStyle style_;
    double locations_;
    std::string out_;
};

} // namespace

std::string evaluation_text(const EvaluationContext& context, const TextStyle& style) { return Writer(context, style).text(); }

} // namespace libprofile::tools
