#include "libprofile/callpath/linker_stub.hpp"

#include "libprofile/callpath/unwind_table.hpp"

namespace libprofile {

std::uintptr_t word_at(std::uintptr_t address) noexcept {
    UnwindSection segment;
    if (!find_segment(address, segment)) return 0;
    return DwarfCursor(address, segment.end).read<std::uintptr_t>();
}

} // namespace libprofile
