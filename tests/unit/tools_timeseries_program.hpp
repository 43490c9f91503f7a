// A program made up for tests of time series: call paths, loops and traces.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tools/timeseries/loop_source.hpp"
#include "tools/timeseries/thread_tree.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::test {

using namespace libprofile::tools;

/// Loops given as ranges of offsets; a loop's header is its first offset. Code runs in the order of offsets, except over pairs that are excluded.
class MadeUpLoops : public LoopSource {
  public:
    struct Range {
        std::uint64_t first = 0, last = 0;
    };
    std::vector<Range> loops; // outer ones first
    std::set<std::pair<std::uint64_t, std::uint64_t>> excluded;

    std::vector<std::uint64_t> loops_around(CodePlace at) const override {
        std::vector<std::uint64_t> around;
        for (const Range& loop : loops)
            if (loop.first <= at.offset && at.offset <= loop.last) around.push_back(loop.first);
        return around;
    }
    Reach reaches(std::uint64_t, CodePlace from, CodePlace to) const override {
        return from.offset < to.offset && !excluded.contains({from.offset, to.offset}) ? Reach::Yes : Reach::No;
    }
};

/// Call paths by number. The offset of a call is its line in Figure 2 and the like.
struct MadeUpProgram {
    Profile profile;
    MadeUpLoops loops;

    MadeUpProgram() {
        profile.paths.push_back({});
        profile.modules.push_back({"BUILD", "/app"});
    }
    std::uint32_t call(std::uint32_t parent, std::uint64_t line) {
        const auto [at, is_new] = frames_.try_emplace({parent, line}, static_cast<std::uint32_t>(profile.paths.size()));
        if (is_new) {
            profile.sites.push_back({0, line, {}, {}});
            profile.paths.push_back({parent, NodeKind::Frame, static_cast<std::uint32_t>(profile.sites.size() - 1), 0});
        }
        return at->second;
    }
    std::uint32_t mpi(std::uint32_t parent, const std::string& name, TimeCategory category) {
        const auto [at, is_new] = functions_.try_emplace({parent, name}, static_cast<std::uint32_t>(profile.paths.size()));
        if (is_new) {
            profile.functions.push_back({name, category});
            profile.paths.push_back({parent, NodeKind::Mpi, static_cast<std::uint32_t>(profile.functions.size() - 1), 0});
        }
        return at->second;
    }
    std::uint32_t depth(std::uint32_t path) const {
        std::uint32_t depth = 0;
        for (; path != 0; path = profile.paths[path].parent) ++depth;
        return depth;
    }

  private:
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> frames_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> functions_;
};

inline constexpr double test_period = 1000;

/// One sample a period, from the time `test_period`.
inline void add_sample(Trace& trace, std::uint32_t path, std::uint32_t common) {
    trace.stride = 1;
    trace.samples.push_back({(trace.samples.size() + 1) * 1000, path, common, trace.samples.empty() ? LcaKind::Unknown : LcaKind::Exact});
}

/// "main@13 0.5-8.5(foo@7 ...)": with begins and ends in periods, for nodes whose begins are known.
inline std::string text_of(const Contexts& contexts, const TimeNode& node, double begin) {
    const Context& context = contexts[node.context];
    std::string text = node.kind == TimeKind::Iteration     ? "pass"
                       : context.kind == ContextKind::Root  ? "thread"
                       : context.kind == ContextKind::Known ? "phase"
                       : context.kind == ContextKind::Loop  ? "loop@" + std::to_string(context.loop)
                                                            : "@" + std::to_string(context.place.offset);
    const auto periods = [](double ns) {
        std::string digits = std::to_string(ns / test_period);
        digits.erase(digits.find_last_not_of('0') + 1);
        return digits.back() == '.' ? digits.substr(0, digits.size() - 1) : digits;
    };
    if (node.kind == TimeKind::Profile)
        text += " =" + periods(node.duration);
    else
        text += " " + periods(begin) + "-" + periods(begin + node.duration);
    if (node.children.empty() && node.clusters.empty()) return text;
    text += " (";
    double at = begin;
    for (const std::uint32_t iteration : node.iterations) { // not clustered yet
        if (iteration == rejected_iteration) continue;
        text += (text.back() == '(' ? "" : ", ") + text_of(contexts, node.clusters[iteration], at);
        at += node.clusters[iteration].duration;
    }
    for (const TimeNode& child : node.children) {
        text += (text.back() == '(' ? "" : ", ") + text_of(contexts, child, at + child.gap);
        at += child.gap + child.duration;
    }
    return text + ")";
}

/// A tree with all that it refers to.
struct MadeUpTree {
    Contexts contexts;
    KnownLoops known;
    FlowOrder order;
    ThreadTree tree;

    MadeUpTree(const MadeUpProgram& program, const Trace& trace, LoopForm form, const TimeSeriesParameters& parameters = {},
               const std::vector<KnownIterations>& iterations = {})
        : contexts(program.profile, &program.loops), known((see(trace), contexts), trace, iterations), order(contexts, &program.loops),
          tree(thread_tree(trace, contexts, known, order, parameters, form)) {}
    std::string text() const { return text_of(contexts, tree.root, test_period / 2); }

  private:
    void see(const Trace& trace) {
        for (const TraceSample& sample : trace.samples) contexts.of_sample(sample.path);
        for (const TraceWait& wait : trace.waits) contexts.of_sample(wait.path);
    }
};

} // namespace libprofile::test
