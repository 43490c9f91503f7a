#include "libprofile/loops/site_code.hpp"

#include "libprofile/callpath/linker_stub.hpp"
#include "libprofile/callpath/load_map.hpp"

namespace libprofile {

/// Returns false if the first site has no address.
bool SiteCode::find_addresses(const AlternativeSites& sites, std::uintptr_t (&address)[AlternativeSites::most]) const noexcept {
    for (std::uint32_t i = 0; i < sites.size(); ++i) address[i] = address_of(sites[i]);
    return sites.size() != 0 && address[0] != 0;
}

bool SiteCode::is_understood(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    return address != 0 && loops_.understands(address);
}

bool SiteCode::is_in_loop(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    return address == 0 || loops_.is_in_loop(address);
}

bool SiteCode::may_begin_again(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    return address == 0 || loops_.may_begin_again(address);
}

bool SiteCode::may_catch_before(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    return address == 0 || loops_.may_catch_before(address);
}

bool SiteCode::is_nested(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    return address != 0 && loops_.is_nested(address);
}

std::uintptr_t SiteCode::function_at(std::uintptr_t address) const noexcept {
    std::uintptr_t start = 0, end = 0;
    return address != 0 && functions_->find_code(address, start, end) ? start : 0;
}

NestingAnswer SiteCode::nesting(NodeId often, NodeId seldom) noexcept {
    const std::uintptr_t first = address_of(often), second = address_of(seldom);
    return first == 0 || second == 0 || (*tree_)[often].a != (*tree_)[seldom].a ? NestingAnswer() : loops_.nesting(first, second);
}

bool SiteCode::may_leave_out(NodeId in, NodeId one, NodeId other) noexcept {
    const std::uintptr_t loop = address_of(in), first = address_of(one), second = address_of(other);
    return loop == 0 || first == 0 || second == 0 || loops_.may_pass_without(loop, first, second);
}

bool SiteCode::may_leave_out(const AlternativeSites& sites) noexcept {
    std::uintptr_t address[AlternativeSites::most];
    return !find_addresses(sites, address) || loops_.may_pass_without(address[0], address, sites.size());
}

bool SiteCode::may_enter_instead(NodeId site, const AlternativeSites& sites) noexcept {
    std::uintptr_t address[AlternativeSites::most];
    const std::uintptr_t entered = address_of(site);
    if (entered == 0 || (*tree_)[site].a != (*tree_)[sites[0]].a || !find_addresses(sites, address)) return false;
    return loops_.may_pass_through(address[0], entered, address, sites.size());
}

bool SiteCode::may_end_without(const AlternativeSites& sites) noexcept {
    std::uintptr_t address[AlternativeSites::most];
    return !find_addresses(sites, address) || loops_.may_end_without(address, sites.size());
}

std::uintptr_t SiteCode::called_function(NodeId site) noexcept {
    const std::uintptr_t address = address_of(site);
    std::uintptr_t target = address == 0 ? 0 : loops_.target_of(address);
    for (int jumps = 0; target != 0 && jumps < 4; ++jumps) {
        Instruction first = decode(target, 16);
        if (first.kind == Instruction::Kind::Nop) first = decode(target + first.length, 16);
        if (first.kind == Instruction::Kind::IndirectJump && first.operand != 0) {
            std::uintptr_t bound = 0;
            if (!follow_stub(target, bound) || unbound_name(bound) != nullptr) return 0;
            const std::uint32_t module = load_map.find(bound), own = load_map.find(reinterpret_cast<std::uintptr_t>(&follow_stub));
            if (module == LoadMap::none || module == own) return 0; // ours is the call of MPI itself
            target = bound;
            continue;
        }
        if (first.kind != Instruction::Kind::Jump) break;
        target = first.target;
    }
    return function_at(target);
}

bool SiteCode::may_return_before(NodeId site, std::uintptr_t function) noexcept {
    const std::uintptr_t called = called_function(site);
    return called != 0 && called != function && loops_.may_return(called);
}

bool SiteCode::are_apart(NodeId one, NodeId other) noexcept {
    return nesting(one, other).nesting == Nesting::Same && nesting(other, one).nesting == Nesting::Same &&
           !loops_.may_make_both(address_of(one), address_of(one), address_of(other));
}

} // namespace libprofile
