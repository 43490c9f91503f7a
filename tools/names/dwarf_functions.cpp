#include "tools/names/dwarf_functions.hpp"

#include <dwarf.h>

namespace libprofile::tools {

namespace {

constexpr int deepest = 256; // nesting that is followed, so that broken files do not use up the stack

/// Calls visit(Dwarf_Die&) for the children until it returns true; returns whether one did.
template <class Visit> bool for_each_child(Dwarf_Die* parent, Visit&& visit) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0) return false;
    do {
        if (visit(child)) return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

bool may_own_functions(int tag) {
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type: return true;
    default: return false;
    }
}

/// Follows the blocks around an address inwards and keeps the inlined calls.
bool descend(Dwarf_Die* scope, Dwarf_Addr address, std::vector<Dwarf_Die>& inlined, int depth) {
    if (depth > deepest) return false;
    return for_each_child(scope, [&](Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        const bool call = tag == DW_TAG_inlined_subroutine;
        if (!call && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block && tag != DW_TAG_catch_block) return false;
        if (dwarf_haspc(&child, address) == 1) {
            if (call) inlined.push_back(child);
            descend(&child, address, inlined, depth + 1);
            return true;
        }
        // A block without addresses of its own may hold some that have.
        const bool open = !call && dwarf_hasattr(&child, DW_AT_low_pc) == 0 && dwarf_hasattr(&child, DW_AT_ranges) == 0;
        return open && descend(&child, address, inlined, depth + 1);
    });
}

} // namespace

UnitFunctions::UnitFunctions(Dwarf_Die unit) { collect(&unit, none, 0); }

void UnitFunctions::collect(Dwarf_Die* parent, std::size_t around, int depth) {
    if (depth > deepest) return;
    for_each_child(parent, [&](Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        if (!may_own_functions(tag)) return false;
        std::size_t inside = around;
        if (tag == DW_TAG_subprogram) {
            inside = functions_.size();
            functions_.push_back({child, around});
            Dwarf_Addr base = 0, begin = 0, end = 0;
            for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&child, at, &base, &begin, &end)) > 0;)
                if (begin < end) ranges_.push_back({begin, end, inside});
        }
        collect(&child, inside, depth + 1);
        return false;
    });
}

CodeFunction UnitFunctions::find(Dwarf_Addr address) const {
    CodeFunction code;
    const Range* best = nullptr;
    for (const Range& range : ranges_)
        if (address >= range.begin && address < range.end && (best == nullptr || range.end - range.begin < best->end - best->begin)) best = &range;
    if (best == nullptr) return code;
    const Function& function = functions_[best->function];
    code.function = &function.die;
    code.around = function.around == none ? nullptr : &functions_[function.around].die;
    Dwarf_Die die = function.die;
    descend(&die, address, code.inlined, 0);
    return code;
}

} // namespace libprofile::tools
