// A C++ plug-in that throws, for a host that is not C++.
#include <cstdio>
#include <stdexcept>

extern "C" int plugin_run(int, char**) {
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception& error) {
        std::printf("plugin: %s\n", error.what());
    }
    return 0;
}
