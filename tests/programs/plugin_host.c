/* plugin_host PLUGIN [global]: a C program that knows neither MPI nor C++ opens a plug-in: only for itself, as Python
 * does, or globally. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL)) : NULL;
    if (plugin == NULL) {
        fprintf(stderr, "plugin_host: %s\n", dlerror());
        return 2;
    }
    int (*run)(int, char**) = (int (*)(int, char**))dlsym(plugin, "plugin_run");
    return run == NULL ? 2 : run(argc, argv);
}
