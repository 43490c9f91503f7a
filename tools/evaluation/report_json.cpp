#include "tools/evaluation/report.hpp"
#include "tools/text/json_text.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

Json range_json(const LocalRange& range) { return {{"least", range.least}, {"most", range.most}}; }

Json paths_json(const PathStatistics& paths) {
    return {{"distinct", paths.distinct},
            {"total", paths.total},
            {"per_iteration", {{"minimum", paths.minimum}, {"average", paths.average}, {"maximum", paths.maximum}}}};
}

Json phantoms_json(const Phantoms& p) {
    return {{"share", p.share()},         {"pairs", p.pairs},         {"phantoms", p.phantoms},
            {"mpi_share", p.mpi_share()}, {"mpi_pairs", p.mpi_pairs}, {"mpi_phantoms", p.mpi_phantoms}};
}

Json graph_json(const GraphError& error) { return {{"mean", error.of_mean}, {"maximum", error.of_maximum}}; }

Json whole_json(const WholeErrors& errors) {
    Json metrics = Json::object();
    for (const MetricGraphError& metric : errors.metrics) metrics[metric_catalogue[metric.row].name] = graph_json(metric.error);
    return {{"time", graph_json(errors.time)}, {"count", graph_json(errors.count)}, {"metrics", std::move(metrics)}};
}

Json cells_json(const CellError& error) {
    Json shares = Json::array();
    for (std::size_t b = 0; b < error_buckets.size(); ++b) shares.push_back(error.share(b));
    return {{"cells", error.cells}, {"mean", error.mean()}, {"largest", error.largest}, {"orders", std::move(shares)}};
}

Json memory_json(const MethodMemory& memory) {
    return {{"running_event_bytes", memory.running_event_bytes},
            {"running_sampled_bytes", memory.running_sampled_bytes},
            {"stored_event_bytes", memory.stored_event_bytes},
            {"stored_sampled_bytes", memory.stored_sampled_bytes}};
}

Json score_json(const Score& score) {
    Json json = {{"method", score.name},
                 {"label", score.label},
                 {"reference", score.is_reference},
                 {"clusters", score.clusters},
                 {"remarks", score.remarks},
                 {"phantoms", phantoms_json(score.phantoms)},
                 {"phantoms_without_equivalence", nullptr},
                 {"whole_iterations", whole_json(score.whole)},
                 {"call_paths",
                  {{"event_time", cells_json(score.cells.event_time)},
                   {"event_count", cells_json(score.cells.event_count)},
                   {"sampled_time", cells_json(score.cells.sampled_time)},
                   {"sampled_count", cells_json(score.cells.sampled_count)}}},
                 {"clustering_time",
                  {{"mean_ns", score.time.mean_ns},
                   {"largest_ns", score.time.largest_ns},
                   {"mean_share", score.time.mean_share},
                   {"largest_share", score.time.largest_share}}},
                 {"memory", memory_json(score.memory)}};
    if (score.phantoms_without_equivalence) json["phantoms_without_equivalence"] = phantoms_json(*score.phantoms_without_equivalence);
    return json;
}

} // namespace

std::string evaluation_json(const EvaluationContext& context) {
    const Characteristics& c = context.evaluation.characteristics;
    Json scores = Json::array();
    for (const Score& score : context.evaluation.scores) scores.push_back(score_json(score));
    const Json document = {{"command", context.profile.job.command},
                           {"phase", context.recording.phase},
                           {"other_phases", context.recording.other_phases},
                           {"notes", context.recording.notes},
                           {"equivalence", context.equivalence},
                           {"application",
                            {{"wall_ns", c.wall_ns},
                             {"locations", c.locations},
                             {"iterations", range_json(c.iterations)},
                             {"call_paths", paths_json(c.all)},
                             {"mpi_call_paths", paths_json(c.mpi)},
                             {"weak_classes", range_json(c.weak_classes)},
                             {"strong_classes", range_json(c.strong_classes)}}},
                           {"order_names", error_buckets},
                           {"full_recording", memory_json(context.evaluation.full)},
                           {"methods", std::move(scores)}};
    return json_text(document, 2) + "\n";
}

} // namespace libprofile::tools
