#include "tools/code/module_loops.hpp"

#include "tools/code/kept_loops.hpp"
#include "tools/code/loop_lines.hpp"
#include "tools/code/no_return.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace libprofile::tools {

namespace {

class LoopReader {
  public:
    LoopReader(Symbols& symbols, const ElfCode& code, const std::vector<std::uint64_t>& offsets)
        : symbols_(symbols), code_(code), no_return_(code), offsets_(offsets) {}

    ModuleLoops read() {
        std::map<std::uint64_t, std::vector<std::uint64_t>> own; // by the begin of a function
        for (const std::uint64_t offset : offsets_) own[function_of(offset)].push_back(offset);
        for (const auto& [begin, sites] : own) add(begin, sites);
        return std::move(out_);
    }

  private:
    static constexpr std::uint64_t no_function = ~std::uint64_t{0};

    FunctionBlocks blocks_of(std::uint64_t begin) { return {code_, begin, std::ref(no_return_)}; }

    /// Where the function begins that the site's loops are those of.
    std::uint64_t function_of(std::uint64_t offset) {
        const CodePart* part = code_.part_of(offset);
        if (part == nullptr) return no_function;
        if (!part->is_inner) return part->begin;
        const FunctionBlocks inner = blocks_of(part->begin);
        const auto main = std::find_if(inner.parts().begin(), inner.parts().end(), [](const CodePart& other) { return !other.is_inner; });
        return main != inner.parts().end() && blocks_of(main->begin).block_of(offset) != FunctionBlocks::none ? main->begin : part->begin;
    }

    void add(std::uint64_t begin, const std::vector<std::uint64_t>& own) {
        if (begin == no_function) return add_unknown(own);
        LoopNest nest(blocks_of(begin));
        const FunctionBlocks& blocks = nest.blocks();
        if (!blocks.is_understood()) return add_unknown(own);
        if (nest.loops().size() > 1) unite_copies(symbols_, nest);
        for (const CodeLoop& loop : nest.loops())
            if (loop.depth > FunctionLoops::deepest) return add_unknown(own);
        std::vector<FunctionLoops::Place> places;
        std::vector<std::uint64_t> unknown;
        for (const std::uint64_t site : own)
            if (blocks.block_of(site) == FunctionBlocks::none) unknown.push_back(site);
        for (const CodePart& part : blocks.parts())
            for (auto site = std::lower_bound(offsets_.begin(), offsets_.end(), part.begin); site != offsets_.end() && *site < part.end; ++site)
                if (blocks.block_of(*site) != FunctionBlocks::none) places.push_back({*site, 0, std::binary_search(own.begin(), own.end(), *site)});
        std::sort(places.begin(), places.end(), [](const FunctionLoops::Place& a, const FunctionLoops::Place& b) { return a.offset < b.offset; });
        if (!unknown.empty()) add_unknown(unknown);
        if (places.empty()) return;
        KeptLoops kept = kept_loops(nest, std::move(places));
        for (std::size_t i = 0; i < kept.loop_of_nest.size(); ++i) {
            const SourceCode source = source_of(symbols_, nest.loops()[kept.loop_of_nest[i]]);
            const SiteName& name = source.inlined.empty() ? source.function : source.inlined.back();
            kept.function.loops[i].line = name.line;
            if (!name.file.empty()) kept.function.loops[i].file = file(name.file);
        }
        out_.functions.push_back(std::move(kept.function));
    }

    void add_unknown(const std::vector<std::uint64_t>& sites) {
        FunctionLoops& function = out_.functions.emplace_back();
        for (const std::uint64_t site : sites) function.places.push_back({site, 0, true});
    }

    std::uint32_t file(const std::string& path) {
        const auto [at, is_new] = files_.try_emplace(path, static_cast<std::uint32_t>(out_.files.size()));
        if (is_new) out_.files.push_back(path);
        return at->second;
    }

    Symbols& symbols_;
    const ElfCode& code_;
    NoReturn no_return_;
    const std::vector<std::uint64_t>& offsets_;
    ModuleLoops out_;
    std::unordered_map<std::string, std::uint32_t> files_;
};

} // namespace

ReadLoops read_loops(const Module& module, const std::vector<std::uint64_t>& offsets) {
    Symbols symbols(module);
    if (symbols.state() != ModuleState::Readable) return {symbols.state(), {}};
    const ElfCode code(module.path);
    if (!code.is_readable()) return {};
    return {ModuleState::Readable, LoopReader(symbols, code, offsets).read()};
}

} // namespace libprofile::tools
