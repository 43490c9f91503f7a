#include "tools/export/formats.hpp"

#include "tools/text/layout.hpp"

#include <fmt/format.h>
#include <iterator>

namespace libprofile::tools {

namespace {

constexpr ExportFormat formats[] = {
    {"hpctoolkit", "HPCToolkit database: Hatchet, Chopper, Thicket", ".hpctoolkit", true, "hatchet.GraphFrame.from_hpctoolkit(\"{}\")", write_hpctoolkit},
    {"caliper", "Caliper JSON, aggregated over ranks: Thicket, Hatchet", ".caliper.json", false, "thicket.Thicket.from_caliper([\"{}\"])", write_caliper},
    {"cubex", "Cube, with iterations: Cube GUI, Extra-P, Hatchet", ".cubex", false, "cube {}", write_cubex},
    {"speedscope", "flame graphs in the browser, a profile per rank", ".speedscope.json", false, "speedscope {}", write_speedscope},
    {"folded", "folded stacks: flamegraph.pl, inferno, grep", ".folded", false, "flamegraph.pl {} > graph.svg", write_folded},
    {"pprof", "pprof: go tool pprof, Pyroscope, Parca", ".pb.gz", false, "go tool pprof -http=localhost: {}", write_pprof},
    {"extrap", "Extra-P: append those of several runs to one file", ".jsonl", false, "extrap --json {}, after appending runs with other numbers of ranks",
     write_extrap},
    {"chrome", "trace of iterations and clusters: Perfetto, chrome://tracing", ".trace.json", false, "load {} in ui.perfetto.dev or chrome://tracing",
     write_chrome},
    {"perfetto", "trace of events: Perfetto, trace_processor", ".perfetto-trace", false, "load {} in ui.perfetto.dev", write_perfetto, true},
    {"paraver", "trace of events: Paraver, Dimemas", ".paraver", true, "wxparaver {}/trace.prv", write_paraver, true},
    {"otf2", "trace of events: Vampir, Scalasca, python3-otf2", ".otf2", true, "vampir {0}/traces.otf2, or otf2-print {0}/traces.otf2", write_otf2, true},
    {"dot", "graph of OpenMP tasks: Graphviz", ".dot", false, "dot -Tsvg {} -o tasks.svg", write_dot, true, true},
    {"csv", "tables: call paths, values, metrics, iterations, clusters", ".csv", true, "pandas.read_csv(\"{}/values.csv\")", write_csv},
};

} // namespace

std::span<const ExportFormat> export_formats() { return formats; }

std::vector<ExportFormat> formats_of_all_profiles() {
    std::vector<ExportFormat> list(std::begin(formats), std::end(formats));
    std::erase_if(list, [](const ExportFormat& format) { return format.needs_events; });
    return list;
}

Remarks untold_remarks(const CallTable& table) {
    if (table.untold == 0) return {};
    return {fmt::format("{} over all ranks are in phases inside these iterations, whose functions and other metrics the profile does not have: that time "
                        "is the program's own, in no function",
                        duration(static_cast<double>(table.untold), {}))};
}

} // namespace libprofile::tools
