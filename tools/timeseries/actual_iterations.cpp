#include "tools/timeseries/actual_iterations.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace libprofile::tools {

namespace {

constexpr ContextId no_context = 0xffffffff;

/// The contexts of samples in the phase.
std::vector<ContextId> contexts_in(const PhaseData& data, const Contexts& contexts) {
    std::vector<ContextId> in;
    for_each_cell(data, [&](const Cell& cell) {
        if (const ContextId context = contexts.seen(cell.path); context != no_context) in.push_back(context);
    });
    std::sort(in.begin(), in.end());
    in.erase(std::unique(in.begin(), in.end()), in.end());
    return in;
}

/// The innermost loop around a context, or no_context.
ContextId loop_around(const Contexts& contexts, ContextId id) {
    while (id != 0 && contexts[id].kind != ContextKind::Loop) id = contexts[id].parent;
    return id == 0 ? no_context : id;
}

/// The loop in which a pass of a found loop begins.
class FoundLoops {
  public:
    FoundLoops(const Profile& profile, const LoopSource& loops) : profile_(profile), loops_(loops) {}

    /// Its header, and its module; nothing if the code is not known.
    std::optional<CodePlace> header(const FoundLoop& found) const {
        if (found.is(LoopIsPython)) return std::nullopt;
        for (std::uint32_t m = 0; m < profile_.modules.size(); ++m) {
            const Module& module = profile_.modules[m];
            if (module.build_id.empty() ? module.path != found.module.path : module.build_id != found.module.build_id) continue;
            const std::vector<std::uint64_t> around = loops_.loops_around({m, found.offset});
            return around.empty() ? std::nullopt : std::optional(CodePlace{m, around.back()});
        }
        return std::nullopt;
    }

  private:
    const Profile& profile_;
    const LoopSource& loops_;
};

} // namespace

std::map<ContextId, std::uint64_t> actual_iterations(const Profile& profile, const std::vector<const Location*>& threads, const Contexts& contexts,
                                                     const LoopSource& loops) {
    const FoundLoops found_loops(profile, loops);
    std::map<ContextId, std::uint64_t> actual;
    std::set<ContextId> doubtful;
    for (const Location* thread : threads)
        for (const PhaseData& data : thread->phases) {
            const Phase& phase = profile.phases[data.phase];
            if (phase.kind != PhaseKind::Iterations) continue;
            const std::vector<ContextId> in = contexts_in(data, contexts);
            if (in.empty()) continue;
            std::set<ContextId> candidates;
            const FoundLoop* found = nullptr;
            if (thread->loop_search)
                for (const FoundLoop& loop : thread->loop_search->loops)
                    if (phase.is_called(loop.phase) || phase.is_called(loop.recorded_as)) found = &loop;
            if (found != nullptr) {
                const std::optional<CodePlace> header = found_loops.header(*found);
                if (!header) continue;
                for (ContextId id : in)
                    for (; id != 0; id = contexts[id].parent) {
                        const Context& context = contexts[id];
                        if (context.kind == ContextKind::Loop && context.loop == header->offset && context.has_place && context.place.module == header->module)
                            candidates.insert(id);
                    }
            } else {
                ContextId common = in.front();
                for (const ContextId id : in) common = contexts.common(common, id, 0xffffffffu);
                if (const ContextId loop = loop_around(contexts, common); loop != no_context) candidates.insert(loop);
            }
            if (candidates.size() == 1) actual[*candidates.begin()] += data.instances + (found == nullptr ? 0 : found->missed);
            if (candidates.size() > 1) doubtful.insert(candidates.begin(), candidates.end());
        }
    for (const ContextId loop : doubtful) actual.erase(loop);
    return actual;
}

} // namespace libprofile::tools
