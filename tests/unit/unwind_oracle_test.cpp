// Our reading of unwind information against elfutils', at every row of many functions in the libraries installed here.
#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/callpath/unwind_table.hpp"
#include "tests/unit/arch/oracle_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <random>
#include <string>
#include <sys/auxv.h>
#include <unistd.h>
#include <vector>

namespace libprofile {

namespace {

/// The recipe that is equivalent to elfutils' rules.
class Oracle {
  public:
    Oracle(Dwarf_CFI* cfi, std::uintptr_t bias) : cfi_(cfi), bias_(bias) {}

    /// Also returns the rows' borders: the same rules hold in [start, end).
    Recipe recipe(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) const {
        Recipe result;
        result.kind = RecipeKind::Missing;
        Dwarf_Frame* frame = nullptr;
        start = end = 0;
        if (dwarf_cfi_addrframe(cfi_, address - bias_, &frame) != 0) return result;
        bool is_signal_frame = false;
        const int return_register = dwarf_frame_info(frame, &start, &end, &is_signal_frame);
        start += bias_;
        end += bias_;
        result = recipe_of_rules(frame, return_register, is_signal_frame, address);
        std::free(frame);
        return result;
    }

  private:
    Dwarf_CFI* cfi_;
    std::uintptr_t bias_;
};

/// Starts of all functions in the module's sorted table.
std::vector<std::uintptr_t> functions_of(const UnwindSection& section) {
    const auto* table = reinterpret_cast<const std::int32_t*>(section.header);
    std::vector<std::uintptr_t> result;
    for (std::int32_t i = 0; i < table[2]; ++i) result.push_back(section.header + static_cast<std::uintptr_t>(std::intptr_t{table[3 + 2 * i]}));
    return result;
}

struct Share {
    std::size_t addresses = 0;
    std::size_t of_kind[8] = {}; // bytes
    std::size_t bytes = 0;       // of code that is described
    std::size_t foreign = 0;
    std::size_t different = 0;

    void add_row(const Recipe& ours, std::size_t size) {
        bytes += size;
        of_kind[static_cast<unsigned>(ours.kind)] += size;
        if ((ours.flags & ForeignPersonality) != 0) foreign += size;
    }
    void compare(const Recipe& ours, const Recipe& theirs, std::uintptr_t address) {
        ++addresses;
        Recipe plain = ours;
        plain.flags = 0;
        if (plain.pack(0) == theirs.pack(0)) return;
        if (++different <= 5)
            ADD_FAILURE() << std::hex << address << ": kind " << int(ours.kind) << " instead of " << int(theirs.kind) << ", cfa " << ours.cfa_offset
                          << " instead of " << theirs.cfa_offset << ", frame rule " << int(ours.frame_rule) << " instead of " << int(theirs.frame_rule)
                          << ", frame " << ours.frame_offset << " instead of " << theirs.frame_offset;
    }
};

/// Compares at every row of randomly chosen functions, and next to their ends, until there are enough addresses.
Share compare_module(const Oracle& oracle, const UnwindSection& section) {
    constexpr std::size_t enough = 25000;
    std::vector<std::uintptr_t> functions = functions_of(section);
    std::shuffle(functions.begin(), functions.end(), std::mt19937_64(1));
    Share share;
    for (const std::uintptr_t function : functions) {
        if (share.addresses >= enough) break;
        std::uintptr_t start = 0;
        std::uintptr_t end = 0;
        share.compare(read_unwind_info(function - 1), oracle.recipe(function - 1, start, end), function - 1);
        for (std::uintptr_t row = function;; row = end) {
            const Recipe theirs = oracle.recipe(row, start, end);
            const Recipe ours = read_unwind_info(row);
            share.compare(ours, theirs, row);
            if (theirs.kind == RecipeKind::Missing || end <= row) break;
            share.add_row(ours, end - row);
            // In a linkage table the rules depend on the address itself.
            const std::uintptr_t few = std::min(end, row + 32);
            std::uintptr_t same_start = 0;
            std::uintptr_t same_end = 0;
            for (std::uintptr_t inside = row + 1; inside < few; inside += 1 + (end - row) / 4)
                share.compare(read_unwind_info(inside), oracle.recipe(inside, same_start, same_end), inside);
            share.compare(read_unwind_info(end - 1), oracle.recipe(end - 1, same_start, same_end), end - 1);
        }
    }
    return share;
}

std::string path_of(const link_map& module) {
    if (module.l_name[0] != 0) return module.l_name;
    char path[4096] = {};
    return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? path : "";
}

/// The number of bytes in the module's executable segments that no entry describes, padding between functions included.
double undescribed_percent(const UnwindSection& section, const link_map& module) {
    double described = 0;
    for (const std::uintptr_t function : functions_of(section)) {
        UnwindEntry entry;
        if (find_unwind_entry(section, function, entry) == EntrySearch::Found) described += double(entry.end - entry.start);
    }
    double executable = 0;
    const auto add_up = [&](dl_phdr_info* info) {
        if (info->dlpi_addr != module.l_addr) return;
        for (int i = 0; i < info->dlpi_phnum; ++i)
            if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) executable += static_cast<double>(info->dlpi_phdr[i].p_memsz);
    };
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            (*static_cast<decltype(add_up)*>(data))(info);
            return 0;
        },
        const_cast<void*>(static_cast<const void*>(&add_up)));
    return 100 * (1 - described / executable);
}

void check_module(std::uintptr_t address_inside, std::size_t& total) {
    dl_find_object object;
    ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(address_inside), &object), 0);
    UnwindSection section;
    ASSERT_TRUE(find_unwind_section(address_inside, section));
    const std::string path = path_of(*object.dlfo_link_map);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0) << path;
    elf_version(EV_CURRENT);
    Elf* elf = elf_begin(file, ELF_C_READ_MMAP, nullptr);
    Dwarf_CFI* cfi = dwarf_getcfi_elf(elf);
    ASSERT_NE(cfi, nullptr) << path;
    const Share share = compare_module(Oracle(cfi, object.dlfo_link_map->l_addr), section);
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(file);
    EXPECT_EQ(share.different, 0u) << path;
    total += share.addresses;
    const auto percent = [&](std::size_t n) { return 100. * static_cast<double>(n) / static_cast<double>(share.bytes); };
    const auto of = [&](RecipeKind kind) { return percent(share.of_kind[static_cast<unsigned>(kind)]); };
    std::printf("%7zu addresses; of the code: hard %5.2f %%, without entry %5.2f %%, frame %4.1f %%, indirect %5.2f %%, "
                "foreign %5.2f %%  %s\n",
                share.addresses, of(RecipeKind::Hard), undescribed_percent(section, *object.dlfo_link_map), of(RecipeKind::Frame),
                of(RecipeKind::FrameIndirect), percent(share.foreign), path.c_str());
}

} // namespace

TEST(UnwindOracle, RecipesAgreeWithElfutils) {
    std::size_t total = 0;
    for (const auto address :
         {reinterpret_cast<std::uintptr_t>(&check_module), reinterpret_cast<std::uintptr_t>(&::ldiv), reinterpret_cast<std::uintptr_t>(&std::terminate),
          getauxval(AT_BASE), reinterpret_cast<std::uintptr_t>(static_cast<double (*)(double)>(&std::cbrt))})
        check_module(address, total);
    for (const char* name : {"libgcc_s.so.1", "libmpi.so.40", "libmpich.so.12", "libgfortran.so.5", "libpython3.11.so.1.0", "libopenblas.so.0",
                             "liblapack.so.3", "liblammps.so.0", "libcrypto.so.3", "libunwind.so.8"}) {
        void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (library == nullptr) continue; // not installed here
        link_map* module = nullptr;
        ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &module), 0);
        check_module(reinterpret_cast<std::uintptr_t>(module->l_ld), total);
    }
    EXPECT_GT(total, 100000u);
}

} // namespace libprofile
