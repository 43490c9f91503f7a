#include "tools/reader/code_loops.hpp"

#include "tools/reader/decode_tables.hpp"

namespace libprofile::tools {

namespace {

constexpr std::uint64_t begins_block = 1, is_of_another = 2; // flags of a place, below its distance

void encode(Encoder& to, const FunctionLoops& function, std::uint64_t& before) {
    to.number(function.is_understood ? 1 + function.loops.size() : 0);
    to.number(function.places.size());
    const std::uint64_t first = function.places.front().offset;
    to.signed_number(static_cast<std::int64_t>(first - before));
    before = first;
    std::uint64_t last = first;
    for (std::size_t i = 0; i < function.places.size(); ++i) {
        const FunctionLoops::Place& place = function.places[i];
        const bool begins = function.is_understood && (i == 0 || place.block != function.places[i - 1].block);
        to.number((place.offset - last) * 4 + (begins ? begins_block : 0) + (place.is_own ? 0 : is_of_another));
        last = place.offset;
    }
    for (const std::uint32_t loop : function.loop_of) to.number(loop == FunctionLoops::none ? 0 : loop + 1);
    for (std::uint32_t i = 0; i < function.loops.size(); ++i) {
        const FunctionLoops::Loop& loop = function.loops[i];
        to.number(loop.parent == FunctionLoops::none ? 0 : i - loop.parent);
        to.signed_number(static_cast<std::int64_t>(loop.header - first));
        to.number(loop.file == FunctionLoops::none ? 0 : loop.file + 1);
        to.number(loop.line);
    }
    for (std::uint32_t item = 0; item < function.next.size(); ++item) {
        to.number(function.next[item].size());
        for (const std::uint32_t next : function.next[item]) to.signed_number(std::int64_t{next} - std::int64_t{item});
    }
}

bool decode_places(Decoder& from, FunctionLoops& function, std::uint64_t& before) {
    std::uint64_t count = 0;
    std::int64_t first = 0;
    if (!read_count(from, count, 1) || count == 0) return false;
    from.signed_number(first);
    std::uint64_t offset = before += static_cast<std::uint64_t>(first);
    std::uint32_t blocks = 0;
    function.places.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t number = 0;
        from.number(number);
        const std::uint64_t distance = number / 4;
        if (from.failed() || (distance == 0) != (i == 0) || distance > ~offset) return false;
        offset += distance;
        blocks += (number & begins_block) != 0 ? 1 : 0;
        if (function.is_understood && blocks == 0) return false;
        function.places.push_back({offset, function.is_understood ? blocks - 1 : 0, (number & is_of_another) == 0});
    }
    if (function.is_understood) function.loop_of.resize(blocks);
    return true;
}

bool decode_loops(Decoder& from, FunctionLoops& function, std::uint64_t loops, std::size_t files) {
    for (std::uint32_t& loop : function.loop_of) {
        std::uint64_t number = 0;
        from.number(number);
        if (number > loops) return false;
        loop = static_cast<std::uint32_t>(number) - 1; // 0: none
    }
    std::vector<std::uint32_t> depth;
    for (std::uint32_t i = 0; i < loops; ++i) {
        FunctionLoops::Loop loop;
        std::uint64_t distance = 0, file = 0;
        std::int64_t header = 0;
        from.number(distance);
        from.signed_number(header);
        from.number(file);
        from.number(loop.line);
        if (from.failed() || distance > i || file > files) return false;
        if (distance != 0) loop.parent = i - static_cast<std::uint32_t>(distance);
        loop.header = function.places.front().offset + static_cast<std::uint64_t>(header);
        loop.file = static_cast<std::uint32_t>(file) - 1; // 0: none
        depth.push_back(distance == 0 ? 1 : depth[loop.parent] + 1);
        if (depth.back() > FunctionLoops::deepest) return false;
        function.loops.push_back(loop);
    }
    return true;
}

bool decode_order(Decoder& from, FunctionLoops& function) {
    function.next.resize(function.loop_of.size() + function.loops.size());
    for (std::uint32_t item = 0; item < function.next.size(); ++item) {
        std::uint64_t count = 0;
        if (!read_count(from, count, 1)) return false;
        for (std::uint64_t i = 0; i < count; ++i) {
            std::int64_t difference = 0;
            from.signed_number(difference);
            const std::uint64_t next = item + static_cast<std::uint64_t>(difference);
            if (from.failed() || next >= function.next.size() || function.around(static_cast<std::uint32_t>(next)) != function.around(item)) return false;
            function.next[item].push_back(static_cast<std::uint32_t>(next));
        }
    }
    return true;
}

} // namespace

void encode(Encoder& to, const ModuleLoops& module) {
    to.number(module.files.size());
    for (const std::string& file : module.files) to.text({file.data(), file.size()});
    to.number(module.functions.size());
    std::uint64_t before = 0;
    for (const FunctionLoops& function : module.functions) encode(to, function, before);
}

bool decode(Decoder& from, ModuleLoops& module) {
    std::uint64_t files = 0, functions = 0;
    if (!read_count(from, files, 1)) return false;
    for (std::uint64_t i = 0; i < files; ++i) {
        Text file;
        from.text(file);
        module.files.push_back(owned(file));
    }
    if (!read_count(from, functions, 4)) return false;
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < functions; ++i) {
        FunctionLoops function;
        std::uint64_t state = 0; // 0: not understood, else 1 + loops
        from.number(state);
        function.is_understood = state != 0;
        if (state > from.remaining() || state >= FunctionLoops::none || !decode_places(from, function, before)) return false;
        if (state != 0 && (!decode_loops(from, function, state - 1, module.files.size()) || !decode_order(from, function))) return false;
        module.functions.push_back(std::move(function));
    }
    return !from.failed();
}

} // namespace libprofile::tools
