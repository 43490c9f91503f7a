"""Writes the source of a libmpi_abi.so.0 for tests: each function of the standard ABI calls MPICH's, with handles, constants and statuses
translated. MPICH is opened by itself, so that neither the shim's functions nor libprofile's catch its inner calls."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "wrappers/mpi"))
from generator import abi_header, header  # noqa: E402

# Functions with callbacks that see handles, or with arrays of handles whose length another call would have to tell: not in the shim.
LEFT_OUT = re.compile(r"_attr_function|Copy_function|Delete_function|Grequest|Datarep|MPI_(Datatype|Info) \w+\[\]|int ranges")
RANKS = {"source", "dest", "root", "target_rank", "sendtag", "recvtag", "tag"}
COMPARED = {"MPI_Comm_compare": 201, "MPI_Group_compare": 201}
ARRAY_LENGTH = re.compile(r"\bint (count|incount)\b")

HEAD = r"""
#define _GNU_SOURCE
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int source, tag, error, inner[5]; } abi_status;
struct constant { uintptr_t abi; intptr_t own; };

static void* own_function(const char* name) {
    static void* library;
    if (library == NULL) library = dlopen("libmpich.so.12", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    void* found = library == NULL ? NULL : dlsym(library, name);
    if (found == NULL) { fprintf(stderr, "shim: no %s: %s\n", name, dlerror()); abort(); }
    return found;
}
static intptr_t to_own(const struct constant* table, int n, const void* abi) {
    for (int i = 0; i < n; ++i) if (table[i].abi == (uintptr_t)abi) return table[i].own;
    return (intptr_t)abi;
}
static void* to_abi(const struct constant* table, int n, intptr_t own) {
    for (int i = 0; i < n; ++i) if (table[i].own == own) return (void*)table[i].abi;
    return (void*)own;
}
/* Between groups, the others. */
#define PEERS(comm, n) do { \
        int between = 0; \
        ((__typeof__(&PMPI_Comm_test_inter))own_function("PMPI_Comm_test_inter"))(own_MPI_Comm(comm), &between); \
        ((__typeof__(&PMPI_Comm_size))own_function(between ? "PMPI_Comm_remote_size" : "PMPI_Comm_size"))(own_MPI_Comm(comm), &n); \
    } while (0)
static int own_rank(int rank) { return rank == -1 ? MPI_ANY_SOURCE : rank == -3 ? MPI_PROC_NULL : rank == -4 ? MPI_ROOT : rank; }
static int own_tag(int tag) { return tag == -2 ? MPI_ANY_TAG : tag; }
static int abi_rank(int rank) { return rank == MPI_ANY_SOURCE ? -1 : rank == MPI_PROC_NULL ? -3 : rank; }
static const void* own_buffer(const void* p) { return p == (void*)1 ? MPI_IN_PLACE : p; }
static MPI_Status own_status(const abi_status* from) {
    MPI_Status to = {from->inner[0], from->inner[1], own_rank(from->source), own_tag(from->tag), from->error};
    return to;
}
static void set_status(abi_status* to, const MPI_Status* from) {
    to->source = abi_rank(from->MPI_SOURCE);
    to->tag = from->MPI_TAG == MPI_ANY_TAG ? -2 : from->MPI_TAG;
    to->error = from->MPI_ERROR;
    to->inner[0] = from->count_lo;
    to->inner[1] = from->count_hi_and_cancelled;
}
"""


def handle_code(name, constants):
    """Translation of one kind of handle. MPICH's are ints, but for files."""
    rows = ", ".join(f"{{{value}, (intptr_t){constant}}}" for kind, constant, value in constants if kind == name)
    code = f"static const struct constant of_{name}[] = {{{rows or '{0, 0}'}}};\n"
    code += f"#define N_{name} {sum(kind == name for kind, _, _ in constants)}\n"
    code += f"static inline {name} own_{name}(const void* p) {{ return ({name})to_own(of_{name}, N_{name}, p); }}\n"
    whole = "(intptr_t)h" if name == "MPI_File" else "(intptr_t)(unsigned)h"
    return code + (f"static inline void* abi_{name}({name} h) {{ for (int i = 0; i < N_{name}; ++i) if (of_{name}[i].own == (intptr_t)h) "
                   f"return (void*)of_{name}[i].abi; return to_abi(NULL, 0, {whole}); }}\n")


VERSION = """
#ifndef DRAFT
int abi_version(int* major, int* minor) __asm__("PMPI_Abi_get_version");
int abi_version(int* major, int* minor) { return *major = 1, *minor = 0; }
#endif
"""
ONLY_NAME = "MPI_Comm_remote_size"  # it has no profiling name, as MPI_File_close of MPICH 5.0.2's libmpi_abi


def function_code(prototype, handles):
    parameters, arguments, before, after = [], [], [], []
    length = ARRAY_LENGTH.search(prototype.parameter_list)
    for parameter, name in zip(prototype.parameters, prototype.argument_names):
        kind = next((word for word in re.findall(r"MPI_\w+", parameter) if word in handles), None)
        is_array, is_pointer = "[" in parameter, "*" in parameter
        if "MPI_Status" in parameter:
            one = "1" if not is_array else length[1]
            parameters.append(f"abi_status* {name}")
            before.append(f"MPI_Status s_{name}[{one} > 0 ? {one} : 1]; if ({name}) for (int i = 0; i < {one}; ++i) s_{name}[i] = own_status({name} + i);")
            arguments.append(f"{name} ? s_{name} : MPI_STATUS_IGNORE")
            if not parameter.startswith("const"):
                after.append(f"if ({name}) for (int i = 0; i < {one}; ++i) set_status({name} + i, s_{name} + i);")
        elif kind == "MPI_Datatype" and is_array:  # of MPI_Alltoallw; it must stay until a nonblocking one is completed
            parameters.append(f"void** {name}")
            used = f"{name} != NULL" + (" && sendbuf != (void*)1" if name == "sendtypes" else "")
            before.append(f"MPI_Datatype* h_{name} = NULL; if ({used}) {{ int n = 0; PEERS(comm, n); h_{name} = malloc(n * sizeof *h_{name}); "
                          f"for (int i = 0; i < n; ++i) h_{name}[i] = own_MPI_Datatype({name}[i]); }}")
            arguments.append(f"h_{name}")
        elif kind and (is_array or is_pointer):
            one = "1" if not is_array else length[1]
            parameters.append(f"void** {name}")
            before.append(f"{kind} h_{name}[{one} > 0 ? {one} : 1]; for (int i = 0; i < {one}; ++i) h_{name}[i] = own_{kind}({name}[i]);")
            arguments.append(f"h_{name}")
            after.append(f"for (int i = 0; i < {one}; ++i) {name}[i] = abi_{kind}(h_{name}[i]);")
        elif kind:
            parameters.append(f"void* {name}")
            arguments.append(f"own_{kind}({name})")
        else:
            parameters.append(parameter)
            if re.fullmatch(r"(const )?void ?\* ?\w+", parameter):
                arguments.append(f"(void*)own_buffer({name})")
            elif parameter.startswith("int ") and name in RANKS:
                arguments.append(f"own_{'tag' if 'tag' in name else 'rank'}({name})")
            else:
                arguments.append(name)
    if prototype.name in COMPARED:
        after.append("*result += 201;")
    if prototype.name == "MPI_Topo_test":
        after.append("*status = *status == MPI_CART ? 211 : *status == MPI_GRAPH ? 212 : *status == MPI_DIST_GRAPH ? 213 : *status;")
    if prototype.name == "MPI_Group_translate_ranks":
        after.append("for (int i = 0; i < n; ++i) ranks2[i] = abi_rank(ranks2[i]);")
    short = prototype.name[4:]
    listed = ", ".join(parameters) or "void"
    alias = "" if prototype.name == ONLY_NAME else f'int pabi_{short}({listed}) __asm__("PMPI_{short}") __attribute__((alias("MPI_{short}")));\n'
    return (f'int abi_{short}({listed}) __asm__("MPI_{short}");\n{alias}int abi_{short}({listed}) {{\n    static __typeof__(&P{prototype.name}) own;\n'
            f'    if (own == NULL) own = (__typeof__(own))own_function("P{prototype.name}");\n    {" ".join(before)}\n'
            f'    int result_ = own({", ".join(arguments)});\n    {" ".join(after)}\n    return result_;\n}}\n')


def source(folder):
    rows = abi_header.read_rows(folder / "abi.table")
    handles = {words[0] for kind, *words in rows if kind == "handle"}
    constants = [tuple(words) for kind, *words in rows if kind == "constant" and words[0] in handles]
    code = HEAD + VERSION + "".join(handle_code(name, constants) for name in sorted(handles))
    newer = header.read_declarations(folder.parent / "later_functions/mpich.prototypes")
    for _, prototype in header.read_declarations(folder / "abi.prototypes").values():
        if prototype.name in newer:
            continue
        is_alltoallw = re.fullmatch(r"MPI_I?[Aa]lltoallw(_init)?(_c)?", prototype.name)
        if is_alltoallw or not LEFT_OUT.search(prototype.parameter_list) and not prototype.variadic:
            code += function_code(prototype, handles)
    return code
