#include "tools/code/loop_nest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace libprofile::tools {

namespace {

/// Havlak's algorithm on numbers of nodes. Node 0 is the start.
class Havlak {
  public:
    explicit Havlak(const std::vector<std::vector<std::uint32_t>>& successors) : successors_(successors) {
        search();
        find();
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    bool is_reached(std::uint32_t node) const { return order_[node] != none; }
    bool is_header(std::uint32_t node) const { return is_reached(node) && is_header_[order_[node]]; }
    bool is_irreducible(std::uint32_t node) const { return is_irreducible_[order_[node]]; }
    /// The header of the innermost loop around the node, other than the node itself.
    std::uint32_t header_around(std::uint32_t node) const {
        const std::uint32_t header = header_[order_[node]];
        return header == none ? none : node_[header];
    }
    /// Whether the edge leads back to a node from which the search came.
    bool is_back(std::uint32_t from, std::uint32_t to) const { return is_reached(from) && is_ancestor(order_[to], order_[from]); }

  private:
    bool is_ancestor(std::uint32_t of, std::uint32_t node) const { return of <= node && node <= last_[of]; }

    /// Numbers the nodes in the order in which a depth-first search comes to them.
    void search() {
        order_.assign(successors_.size(), none);
        std::vector<std::pair<std::uint32_t, std::size_t>> open;
        const auto enter = [&](std::uint32_t node) {
            order_[node] = static_cast<std::uint32_t>(node_.size());
            node_.push_back(node);
            last_.push_back(0);
            open.emplace_back(node, 0);
        };
        enter(0);
        while (!open.empty()) {
            auto& [node, next] = open.back();
            if (next == successors_[node].size()) {
                last_[order_[node]] = static_cast<std::uint32_t>(node_.size() - 1);
                open.pop_back();
            } else if (const std::uint32_t to = successors_[node][next++]; order_[to] == none) {
                enter(to);
            }
        }
    }

    /// The node that stands for all of a loop that was found.
    std::uint32_t representative(std::uint32_t node) {
        std::uint32_t root = node;
        while (united_[root] != root) root = united_[root];
        while (united_[node] != root) node = std::exchange(united_[node], root);
        return root;
    }

    void find() {
        const auto count = static_cast<std::uint32_t>(node_.size());
        std::vector<std::vector<std::uint32_t>> back(count), others(count); // edges by where they lead
        for (std::uint32_t from = 0; from < count; ++from)
            for (const std::uint32_t successor : successors_[node_[from]]) {
                const std::uint32_t to = order_[successor];
                (is_ancestor(to, from) ? back : others)[to].push_back(from);
            }
        header_.assign(count, none);
        is_header_.assign(count, false);
        is_irreducible_.assign(count, false);
        united_.resize(count);
        std::iota(united_.begin(), united_.end(), 0);
        std::vector<std::uint32_t> in_body(count, none); // the header for which a node was taken last
        for (std::uint32_t header = count; header-- > 0;) {
            std::vector<std::uint32_t> body;
            const auto take = [&](std::uint32_t node) {
                if (node == header || in_body[node] == header) return;
                in_body[node] = header;
                body.push_back(node);
            };
            for (const std::uint32_t from : back[header]) {
                is_header_[header] = true;
                take(representative(from));
            }
            for (std::size_t i = 0; i < body.size(); ++i) {
                // The list may grow for the header itself, never for this node.
                const std::vector<std::uint32_t> before = others[body[i]];
                for (const std::uint32_t node : before) {
                    const std::uint32_t from = representative(node);
                    if (is_ancestor(header, from)) {
                        take(from);
                    } else { // another way in
                        is_irreducible_[header] = true;
                        others[header].push_back(from);
                    }
                }
            }
            for (const std::uint32_t node : body) {
                header_[node] = header;
                united_[node] = header;
            }
        }
    }

    const std::vector<std::vector<std::uint32_t>>& successors_;
    std::vector<std::uint32_t> order_; // by node; what follows is by order
    std::vector<std::uint32_t> node_, last_, header_, united_;
    std::vector<bool> is_header_, is_irreducible_;
};

} // namespace

LoopNest::LoopNest(FunctionBlocks blocks) : blocks_(std::move(blocks)) {
    if (!blocks_.is_understood() || blocks_.blocks().empty()) return;
    find_loops();
    fill_loops();
}

void LoopNest::find_loops() {
    const auto count = static_cast<std::uint32_t>(blocks_.blocks().size());
    std::vector<std::vector<std::uint32_t>> successors(count + 1); // block i is node i + 1
    for (const std::uint32_t entry : blocks_.entries()) successors[0].push_back(entry + 1);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t to : blocks_.successors(i)) successors[i + 1].push_back(to + 1);
    const Havlak found(successors);

    std::vector<std::uint32_t> depth(count, 0), headers;
    const auto around = [&](std::uint32_t block) {
        const std::uint32_t node = found.is_reached(block + 1) ? found.header_around(block + 1) : Havlak::none;
        return node == Havlak::none || node == 0 ? none : node - 1;
    };
    for (std::uint32_t i = 0; i < count; ++i)
        if (found.is_header(i + 1)) {
            headers.push_back(i);
            for (std::uint32_t outer = i; outer != none; outer = around(outer)) ++depth[i];
        }
    std::stable_sort(headers.begin(), headers.end(), [&](std::uint32_t a, std::uint32_t b) { return depth[a] < depth[b]; });
    std::vector<std::uint32_t> number(count, none);
    for (const std::uint32_t header : headers) {
        number[header] = static_cast<std::uint32_t>(loops_.size());
        CodeLoop loop;
        loop.header = blocks_.blocks()[header].begin;
        loop.depth = depth[header];
        loop.parent = around(header) == none ? none : number[around(header)];
        loop.is_irreducible = found.is_irreducible(header + 1);
        loops_.push_back(std::move(loop));
        headers_of_.push_back({header});
    }
    loop_of_.assign(count, none);
    for (std::uint32_t i = 0; i < count; ++i) loop_of_[i] = number[i] != none ? number[i] : around(i) != none ? number[around(i)] : none;
}

bool LoopNest::is_header(std::uint32_t loop, std::uint32_t block) const {
    return loop != none && std::find(headers_of_[loop].begin(), headers_of_[loop].end(), block) != headers_of_[loop].end();
}

void LoopNest::fill_loops() {
    for (std::uint32_t i = 0; i < loops_.size(); ++i)
        if (loops_[i].parent != none) loops_[loops_[i].parent].inner.push_back(i);
    for (const CodeCall& call : blocks_.calls())
        if (loop_of_[call.block] != none) loops_[loop_of_[call.block]].calls.push_back(call.at);
    for (std::uint32_t i = 0; i < blocks_.blocks().size(); ++i)
        for (const std::uint32_t to : blocks_.successors(i)) {
            const std::uint32_t loop = loop_of_[to];
            if (is_header(loop, to) && is_inside(loop_of_[i], loop)) loops_[loop].back_edges.push_back(blocks_.blocks()[i].last);
        }
}

void LoopNest::unite(const std::function<bool(const CodeLoop&, const CodeLoop&)>& is_same) {
    std::vector<std::uint32_t> number(loops_.size()); // where each goes; outer loops come first
    std::vector<CodeLoop> kept;
    std::vector<std::vector<std::uint32_t>> headers;
    for (std::uint32_t i = 0; i < loops_.size(); ++i) {
        CodeLoop& loop = loops_[i];
        if (loop.parent != none && is_same(loop, loops_[loop.parent])) {
            number[i] = number[loop.parent];
            headers[number[i]].insert(headers[number[i]].end(), headers_of_[i].begin(), headers_of_[i].end());
            continue;
        }
        number[i] = static_cast<std::uint32_t>(kept.size());
        CodeLoop copy = loop; // the others are still compared with it
        copy.parent = loop.parent == none ? none : number[loop.parent];
        copy.depth = copy.parent == none ? 1 : kept[copy.parent].depth + 1;
        copy.inner.clear();
        copy.calls.clear();
        copy.back_edges.clear();
        kept.push_back(std::move(copy));
        headers.push_back(headers_of_[i]);
    }
    loops_ = std::move(kept);
    headers_of_ = std::move(headers);
    for (std::uint32_t& loop : loop_of_)
        if (loop != none) loop = number[loop];
    fill_loops();
}

std::uint32_t LoopNest::innermost(std::uint64_t address) const {
    const std::uint32_t block = loop_of_.empty() ? FunctionBlocks::none : blocks_.block_of(address);
    return block == FunctionBlocks::none ? none : loop_of_[block];
}

bool LoopNest::is_inside(std::uint32_t inner, std::uint32_t outer) const {
    while (inner != none && inner != outer) inner = loops_[inner].parent;
    return inner == outer;
}

bool LoopNest::contains(std::uint32_t loop, std::uint64_t address) const { return loop != none && is_inside(innermost(address), loop); }

/// @param waiting blocks to begin with
std::vector<bool> LoopNest::reached(std::uint32_t loop, std::vector<std::uint32_t> waiting) const {
    std::vector<bool> is_done(loop_of_.size());
    while (!waiting.empty()) {
        const std::uint32_t block = waiting.back();
        waiting.pop_back();
        for (const std::uint32_t next : blocks_.successors(block)) {
            if (is_done[next] || !holds(loop, next) || is_header(loop, next)) continue;
            is_done[next] = true;
            waiting.push_back(next);
        }
    }
    return is_done;
}

bool LoopNest::reaches_forward(std::uint32_t loop, std::uint64_t from, std::uint64_t to) const {
    if (loop_of_.empty()) return false;
    const std::uint32_t first = blocks_.block_of(from), last = blocks_.block_of(to);
    if (first == FunctionBlocks::none || last == FunctionBlocks::none || !holds(loop, first) || !holds(loop, last)) return false;
    return (first == last && from < to) || reached(loop, {first})[last];
}

bool LoopNest::reaches_from_start(std::uint32_t loop, std::uint64_t to) const {
    if (loop_of_.empty()) return false;
    const std::uint32_t last = blocks_.block_of(to);
    if (last == FunctionBlocks::none || !holds(loop, last)) return false;
    const std::vector<std::uint32_t>& starts = loop == none ? blocks_.entries() : headers_of_[loop];
    return std::find(starts.begin(), starts.end(), last) != starts.end() || reached(loop, starts)[last];
}

} // namespace libprofile::tools
