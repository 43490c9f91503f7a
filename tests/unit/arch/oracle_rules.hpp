// Elfutils' rules as a recipe, for unwind_oracle_test.
#pragma once

#include "libprofile/callpath/recipe.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <initializer_list>

namespace libprofile {

struct Operations {
    Dwarf_Op* list = nullptr;
    std::size_t count = 0;
    bool is(std::initializer_list<unsigned> atoms) const {
        return std::equal(atoms.begin(), atoms.end(), list, list + count, [](unsigned atom, const Dwarf_Op& operation) { return atom == operation.atom; });
    }
    std::int64_t number(std::size_t i) const { return static_cast<std::int64_t>(list[i].number); }
};

} // namespace libprofile

#if defined(__x86_64__)
#include "tests/unit/arch/x86_64/oracle_rules.hpp"
#else
#include "tests/unit/arch/aarch64/oracle_rules.hpp"
#endif
