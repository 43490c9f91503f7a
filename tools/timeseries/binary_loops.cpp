#include "tools/timeseries/binary_loops.hpp"

#include "tools/code/loop_lines.hpp"
#include "tools/code/no_return.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace libprofile::tools {

/// One module; its mutex guards all of it.
struct BinaryLoops::File {
    std::mutex mutex;
    bool is_open = false;
    ModuleState state = ModuleState::Missing;
    std::unique_ptr<Symbols> symbols;
    std::optional<ElfCode> code;
    std::optional<NoReturn> no_return;
    std::unordered_map<std::uint64_t, std::shared_ptr<const LoopNest>> nests; // by the begin of a part
    std::size_t blocks = 0;                                                   // of all of them

    void open(const Module& module) {
        if (std::exchange(is_open, true)) return;
        symbols = std::make_unique<Symbols>(module);
        state = symbols->state();
        if (state != ModuleState::Readable) return;
        code.emplace(module.path);
        if (!code->is_readable()) {
            state = ModuleState::Missing;
            code.reset();
            return;
        }
        no_return.emplace(*code);
    }

    FunctionBlocks blocks_of(std::uint64_t address) { return {*code, address, std::ref(*no_return)}; }

    std::shared_ptr<const LoopNest> nest_of(std::uint64_t address, std::size_t kept) {
        const CodePart* part = code ? code->part_of(address) : nullptr;
        if (part == nullptr) return nullptr;
        if (const auto known = nests.find(part->begin); known != nests.end()) return known->second;
        std::optional<FunctionBlocks> found(blocks_of(part->begin));
        if (part->is_inner) {
            const auto main = std::find_if(found->parts().begin(), found->parts().end(), [](const CodePart& other) { return !other.is_inner; });
            if (main != found->parts().end())
                if (FunctionBlocks whole = blocks_of(main->begin); whole.block_of(address) != FunctionBlocks::none) found.emplace(std::move(whole));
        }
        auto nest = std::make_shared<LoopNest>(std::move(*found));
        if (nest->loops().size() > 1) unite_copies(*symbols, *nest);
        if (blocks + nest->blocks().blocks().size() > kept) {
            nests.clear();
            blocks = 0;
        }
        blocks += nest->blocks().blocks().size();
        return nests[part->begin] = std::move(nest);
    }
};

BinaryLoops::BinaryLoops(const Profile& profile, std::size_t kept) : profile_(&profile), kept_(kept), files_(profile.modules.size()) {
    for (auto& file : files_) file = std::make_unique<File>();
}

BinaryLoops::~BinaryLoops() = default;

std::shared_ptr<const LoopNest> BinaryLoops::nest(CodePlace at) const {
    if (at.module >= files_.size()) return nullptr;
    File& file = *files_[at.module];
    const std::lock_guard lock(file.mutex);
    file.open(profile_->modules[at.module]);
    return file.nest_of(at.offset, kept_);
}

std::vector<std::uint64_t> BinaryLoops::loops_around(CodePlace at) const {
    std::vector<std::uint64_t> around;
    const auto nest = this->nest(at);
    if (nest == nullptr) return around;
    for (std::uint32_t loop = nest->innermost(at.offset); loop != LoopNest::none; loop = nest->loops()[loop].parent)
        around.push_back(nest->loops()[loop].header);
    std::reverse(around.begin(), around.end());
    return around;
}

Reach BinaryLoops::reaches(std::uint64_t loop, CodePlace from, CodePlace to) const {
    const auto nest = from.module == to.module ? this->nest(from) : nullptr;
    if (nest == nullptr) return Reach::Unknown;
    const FunctionBlocks& blocks = nest->blocks();
    if (!blocks.is_understood() || blocks.block_of(from.offset) == FunctionBlocks::none || blocks.block_of(to.offset) == FunctionBlocks::none)
        return Reach::Unknown;
    std::uint32_t around = LoopNest::none;
    if (loop != 0) {
        around = nest->innermost(from.offset);
        while (around != LoopNest::none && nest->loops()[around].header != loop) around = nest->loops()[around].parent;
        if (around == LoopNest::none) return Reach::Unknown;
    }
    return nest->reaches_forward(around, from.offset, to.offset) ? Reach::Yes : Reach::No;
}

bool BinaryLoops::is_known(CodePlace at) const {
    const auto nest = this->nest(at);
    return nest != nullptr && nest->blocks().is_understood() && nest->blocks().block_of(at.offset) != FunctionBlocks::none;
}

SiteName BinaryLoops::source(CodePlace header) const {
    const auto nest = this->nest(header);
    if (nest == nullptr) return {};
    File& file = *files_[header.module];
    const std::lock_guard lock(file.mutex);
    for (const CodeLoop& loop : nest->loops()) {
        if (loop.header != header.offset) continue;
        SourceCode code = source_of(*file.symbols, loop);
        return code.inlined.empty() ? std::move(code.function) : std::move(code.inlined.back());
    }
    return {};
}

std::vector<BinaryLoops::Absent> BinaryLoops::absent() const {
    std::vector<Absent> absent;
    for (std::uint32_t m = 0; m < files_.size(); ++m)
        if (files_[m]->is_open && files_[m]->state != ModuleState::Readable) absent.push_back({m, files_[m]->state});
    return absent;
}

} // namespace libprofile::tools
