#!/usr/bin/env python3
"""Checks wrappers/mpi/functions.table and what is generated from it against the MPI libraries of this machine.

    mpi_table_test.py --source ROOT [--libprofile libprofile.so] --mpi NAME MPICC INCLUDE_DIR [--mpi ...]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = argparse.Namespace()


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic_symbols(library):
    """[(type, name), ...] with the version as part of the name."""
    lines = output_of("nm", "-D", library).splitlines()
    return [tuple(line.split()[-2:]) for line in lines]


class WithTable(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(OPTIONS.source, "wrappers", "mpi", "functions.table")
        self.table = table.read_table(self.path)
        self.folder = tempfile.mkdtemp(prefix="mpi_table_test.")
        self.addCleanup(shutil.rmtree, self.folder)

    def library_of(self, mpicc):
        """The MPI library that the compiler wrapper links."""
        program = os.path.join(self.folder, "program")
        with open(program + ".c", "w", encoding="utf-8") as source:
            source.write("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
        output_of(mpicc, program + ".c", "-o", program)
        return re.search(r"=> (\S*/libmpi(?:ch)?\.so\S*)", output_of("ldd", program))[1]


class EveryFunctionIsCovered(WithTable):
    def test_functions_of_each_mpi_h_and_library(self):
        for name, mpicc, include in OPTIONS.mpi:
            with self.subTest(mpi=name):
                declared = header.parse(header.preprocess(["cc"], [include]))
                self.assertGreater(len(declared), 300)
                exported = generate.exported_functions(self.library_of(mpicc))
                self.assertGreater(len(exported), 300)
                for function in [*declared, *exported]:
                    covered = self.table.is_wrapped(function) or self.table.pass_reason(function)
                    self.assertTrue(covered, f"{function} of {name} has no row")

    def test_functions_of_later_versions_are_wrapped_ones_that_can_be_called_by_the_types_of_this_one(self):
        folder = os.path.join(OPTIONS.source, "wrappers", "mpi", "later_functions")
        for name, _, include in OPTIONS.mpi:
            with self.subTest(mpi=name):
                later = header.read_declarations(os.path.join(folder, f"{name}.prototypes"))
                self.assertGreater(len(later), {"openmpi": 200, "mpich": 20}[name])
                self.assertEqual([f for f in later if not self.table.is_wrapped(f)], [])
                self.assertEqual(list(later), [f.name for f in self.table.functions if f.name in later], "the order of the table")
                declared = header.parse(header.preprocess(["cc"], [include]))
                both = {f: (declared[f][1].parameters, p.parameters) for f, (_, p) in later.items() if f in declared}
                self.assertEqual({f: pair for f, pair in both.items() if pair[0] != pair[1]}, {}, "declared in another way")

    def test_every_wrapped_function_that_a_library_exports_has_a_body(self):
        for name, mpicc, include in OPTIONS.mpi:
            with self.subTest(mpi=name):
                declared = header.parse(header.preprocess(["cc"], [include]))
                prototypes = header.wrapped_prototypes(self.table, declared)
                exported = generate.exported_functions(self.library_of(mpicc))
                missing = [f for f in exported if self.table.is_wrapped(f) and f not in prototypes]
                self.assertEqual(missing, [])

    def test_a_function_without_a_row_is_an_error_that_names_it(self):
        with open(self.path, encoding="utf-8") as rows:
            text = "".join(row for row in rows if not row.startswith("wrap  MPI_Ssend["))
        changed = os.path.join(self.folder, "functions.table")
        with open(changed, "w", encoding="utf-8") as file:
            file.write(text)
        _, _, include = OPTIONS.mpi[0]
        command = [sys.executable, "-B", os.path.join(OPTIONS.source, "wrappers", "mpi", "generate.py")]
        command += ["--table", changed, "--out", self.folder, "bodies", "--mpi", "x", "--include", include]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("MPI_Ssend", run.stderr)
        self.assertNotIn("Traceback", run.stderr)


class TheTable(WithTable):
    def test_categories_exist(self):
        with open(os.path.join(OPTIONS.source, "format", "metrics.hpp"), encoding="utf-8") as file:
            block = re.search(r"enum class TimeCategory[^{]*\{(.*?)\}", file.read(), re.S)[1]
        known = set(re.findall(r"^\s*(\w+),", block, re.M))
        self.assertEqual({f.category for f in self.table.functions} - known, set())

    def test_polls_are_the_functions_that_may_report_that_nothing_is_there(self):
        reports = {f.name for f in self.table.functions if any(a.startswith(("unsuccessful_if_false(", "Test")) for a in f.accounting)}
        polls = {f.name for f in self.table.functions if f.trait == "poll"}
        self.assertEqual(polls, reports)
        self.assertEqual(polls & {"MPI_Mprobe", "MPI_Probe", "MPI_Test_cancelled", "MPI_Win_wait"}, set())

    def test_a_trait_that_does_not_exist_is_an_error_that_names_it(self):
        changed = os.path.join(self.folder, "functions.table")
        with open(changed, "w", encoding="utf-8") as file:
            file.write("wrap  MPI_Test  MpiP2p  pol  Test(request, flag, status)\n")
        with self.assertRaisesRegex(table.TableError, ":1: .*pol"):
            table.read_table(changed)

    def test_passed_through_functions_have_a_reason(self):
        for rule in self.table.pass_rules:
            self.assertGreater(len(rule.reason), 5, rule.pattern)

    def test_function_ids_do_not_depend_on_the_mpi_libraries_found(self):
        self.assertEqual([self.table.ids[f.name] for f in self.table.functions], list(range(len(self.table.functions))))

    def test_pass_rules_do_not_hide_functions_that_communicate(self):
        for name in ("MPI_Send", "MPI_Recv_c", "MPI_Win_create", "MPI_Type_commit", "MPI_Pcontrol", "MPI_Type_struct"):
            self.assertTrue(self.table.is_wrapped(name), name)
            self.assertIsNone(self.table.pass_reason(name))
        for name in ("MPI_Wtime", "MPI_Comm_f2c", "MPI_T_init_thread", "MPI_Aint_add", "MPIX_Comm_shrink"):
            self.assertFalse(self.table.is_wrapped(name), name)


class TheParser(unittest.TestCase):
    def test_declarations_with_attributes_arrays_and_variable_arguments(self):
        found = header.parse(
            'typedef int (MPI_Copy_function)(MPI_Comm, int);\n'
            '__attribute__((visibility("default"))) int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],\n'
            '    MPI_Group *newgroup) __attribute__((deprecated("a ) b")));\n'
            "int MPI_Pcontrol(const int level, ...); int MPI_Finalize(void); MPI_Comm MPI_Comm_f2c(int comm);\n"
        )
        self.assertEqual(set(found), {"MPI_Group_range_incl", "MPI_Pcontrol", "MPI_Finalize", "MPI_Comm_f2c"})
        self.assertEqual(found["MPI_Group_range_incl"][1].argument_names, ("group", "n", "ranges", "newgroup"))
        self.assertTrue(found["MPI_Pcontrol"][1].variadic)
        self.assertEqual(found["MPI_Finalize"][1].parameters, ())
        self.assertEqual(found["MPI_Comm_f2c"][0], "MPI_Comm")


class TheEntryPoints(WithTable):
    def exports(self):
        if OPTIONS.libprofile:
            return OPTIONS.libprofile
        source = os.path.join(self.folder, "stubs.S")
        with open(source, "w", encoding="utf-8") as file:
            file.write(stubs.stubs_source(self.table) + "    .text\nlibprofile_mpi_resolve: ret\n")
        library = os.path.join(self.folder, "stubs.so")
        versions = os.path.join(OPTIONS.source, "wrappers", "exports.map")
        output_of("cc", "-shared", "-nostdlib", f"-Wl,--version-script={versions}", source, "-o", library)
        return library

    def test_exactly_the_wrapped_functions_are_exported_under_both_names(self):
        expected = {f"{prefix}{f.name}" for f in self.table.functions for prefix in ("", "P")}
        exported = {name for kind, name in dynamic_symbols(self.exports()) if "MPI_" in name and kind in "TWDBVR"}
        self.assertEqual(exported, expected)

    def test_the_mpi_names_are_hidden_without_a_version(self):
        # Hidden from link editors; the run-time loader and dlsym look at the version only, which is that of all programs.
        lines = output_of("readelf", "-VW", self.exports()).split("Version definition")[0].splitlines()
        versions = [entry for line in lines for entry in re.findall(r"(\w+)\s+\([^)]*\)|(1h)", line.partition(":")[2])]
        hidden = sum(entry == ("", "1h") for entry in versions)
        self.assertEqual(hidden, 2 * len(self.table.functions))

    def test_a_program_cannot_be_linked_to_the_mpi_names(self):
        library = self.exports()
        program = os.path.join(self.folder, "conftest")
        with open(program + ".c", "w", encoding="utf-8") as file:
            file.write("char MPI_Init(); int main(void) { return MPI_Init(); }\n")
        command = ["cc", program + ".c", library, "-Wl,--unresolved-symbols=ignore-in-shared-libs", "-o", program]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("MPI_Init", run.stderr)


class TheLibrary(WithTable):
    def setUp(self):
        super().setUp()
        if not OPTIONS.libprofile:
            self.skipTest("no libprofile.so given")

    def test_it_needs_neither_mpi_nor_a_cxx_library(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "-dW", OPTIONS.libprofile))
        self.assertEqual([name for name in needed if re.match(r"libmpi|libstdc|libopen|libgcc", name)], [])
        undefined = [name for kind, name in dynamic_symbols(OPTIONS.libprofile) if kind in "Uw"]
        self.assertEqual([name for name in undefined if re.search(r"MPI|ompi|^_Z", name)], [])

    def test_interposed_libc_functions_are_unversioned(self):
        # A reference to pthread_create@GLIBC_x binds to an unversioned definition, but not to one of another version.
        for _, name in dynamic_symbols(OPTIONS.libprofile):
            plain, _, version = name.partition("@")
            if version.strip("@") == "LIBPROFILE_1":
                self.assertTrue(plain.startswith("profile_"), name)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True)
    parser.add_argument("--libprofile")
    parser.add_argument("--mpi", nargs=3, action="append", required=True, metavar=("NAME", "MPICC", "INCLUDE_DIR"))
    return parser.parse_args(namespace=OPTIONS)


if __name__ == "__main__":
    parse_options()
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(OPTIONS.source, "wrappers", "mpi"))
    import generate
    from generator import header, stubs, table

    unittest.main(argv=sys.argv[:1])
