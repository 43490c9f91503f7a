// The functions of a compilation unit by address, with what was inlined into them.
// Contract: one thread; allocates in proportion to the unit's functions; the unit's debug information must stay open;
// throws std::bad_alloc only.
//
// Not dwarf_getscopes: it does not find functions that are described inside others and lie elsewhere in memory, which is
// how lambdas, internal procedures of Fortran and regions of OpenMP look. It also reads the unit anew for every address.
#pragma once

#include <elfutils/libdw.h>
#include <vector>

namespace libprofile::tools {

/// What is at an address: the function, and the inlined calls around the address, outermost first.
struct CodeFunction {
    const Dwarf_Die* function = nullptr; // DW_TAG_subprogram; nullptr: none
    const Dwarf_Die* around = nullptr;   // the function inside which it is described, if any
    std::vector<Dwarf_Die> inlined;      // DW_TAG_inlined_subroutine
};

class UnitFunctions {
  public:
    explicit UnitFunctions(Dwarf_Die unit);
    /// @param address as the debug information counts, without the bias of the module
    CodeFunction find(Dwarf_Addr address) const;

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct Function {
        Dwarf_Die die;
        std::size_t around; // index, or none
    };
    struct Range {
        Dwarf_Addr begin, end;
        std::size_t function;
    };
    void collect(Dwarf_Die* parent, std::size_t around, int depth);

    std::vector<Function> functions_;
    std::vector<Range> ranges_;
};

} // namespace libprofile::tools
