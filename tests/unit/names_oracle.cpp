// Prints what Symbols says of addresses of a program, for the comparison with another reader of debug information.
// Usage: names_oracle PROGRAM < addresses in hexadecimal, one a line
// Per address: the number of frames, then per frame, innermost first, the lines "function" and "file:line".
#include "tools/names/symbols.hpp"

#include <cstdio>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
    using namespace libprofile::tools;
    if (argc != 2) return 2;
    Symbols symbols(Module{"", argv[1]});
    if (symbols.state() != ModuleState::Readable) return 1;
    std::string line;
    while (std::getline(std::cin, line)) {
        const SourceCode code = symbols.resolve(std::strtoull(line.c_str(), nullptr, 16));
        std::printf("%zu\n", code.inlined.size() + 1);
        const auto print = [](const SiteName& name) {
            std::printf("%s\n%s:%llu\n", name.function.c_str(), name.file.c_str(), static_cast<unsigned long long>(name.line));
        };
        for (std::size_t i = code.inlined.size(); i-- > 0;) print(code.inlined[i]);
        print(code.function);
    }
    return 0;
}
