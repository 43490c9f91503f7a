#include "tools/code/loop_lines.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

/// From the function inwards.
std::vector<SiteName> chain_of(SourceCode code) {
    std::vector<SiteName> chain = std::move(code.inlined);
    chain.insert(chain.begin(), std::move(code.function));
    return chain;
}

/// Shortens `a` to what it shares with `b`; the line of the last is the lesser of both.
void meet(std::vector<SiteName>& a, const std::vector<SiteName>& b) {
    if (a.front().function != b.front().function || a.front().file != b.front().file) return; // as after code was moved elsewhere
    std::size_t last = 0;
    // One call of an inlined function is one line in the function around it.
    while (last + 1 < std::min(a.size(), b.size()) && a[last].line == b[last].line && a[last + 1].function == b[last + 1].function) ++last;
    a.resize(last + 1);
    if (a[last].line == 0 || (b[last].line != 0 && b[last].line < a[last].line)) a[last].line = b[last].line;
}

} // namespace

SourceCode source_of(Symbols& symbols, const CodeLoop& loop) {
    std::vector<SiteName> chain = chain_of(symbols.resolve(loop.header));
    for (const std::uint64_t at : loop.back_edges) meet(chain, chain_of(symbols.resolve(at)));
    SourceCode out;
    out.function = std::move(chain.front());
    out.inlined.assign(std::make_move_iterator(chain.begin() + 1), std::make_move_iterator(chain.end()));
    return out;
}

void unite_copies(Symbols& symbols, LoopNest& nest) {
    nest.unite([&](const CodeLoop& inner, const CodeLoop& outer) {
        const std::vector<SiteName> a = chain_of(source_of(symbols, inner)), b = chain_of(source_of(symbols, outer));
        return a.back().line != 0 && a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const SiteName& one, const SiteName& other) {
                   return one.function == other.function && one.file == other.file && one.line == other.line;
               });
    });
}

} // namespace libprofile::tools
