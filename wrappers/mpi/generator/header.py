"""Finds the function prototypes of an mpi.h: preprocesses it with the C compiler and parses the declarations."""

import re
import subprocess
from dataclasses import dataclass

from .table import TableError


@dataclass(frozen=True)
class Prototype:
    name: str
    parameters: tuple  # ("const void *buf", "int count", ...), empty for (void)

    @property
    def variadic(self):
        return bool(self.parameters) and self.parameters[-1] == "..."

    @property
    def argument_names(self):
        return tuple(parameter_name(p) for p in self.parameters if p != "...")

    @property
    def parameter_list(self):
        return ", ".join(self.parameters)


def parameter_name(parameter):
    """'const int ranges[][3]' -> 'ranges'"""
    return re.findall(r"\w+", parameter.split("[")[0])[-1]


def preprocess(compiler, include_dirs):
    command = [*compiler, "-E", "-P", "-x", "c", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    command += [f"-I{directory}" for directory in include_dirs] + ["-"]
    run = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise TableError(f"cannot preprocess mpi.h with '{' '.join(command)}':\n{run.stderr}")
    return run.stdout


def remove_attributes(text):
    """Takes out __attribute__((...)) with its nested parentheses, and what string literals say."""
    text = re.sub(r'"[^"]*"', '""', text)
    kept, position = [], 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < position:
            continue
        kept.append(text[position : match.start()])
        depth, position = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    return "".join(kept) + text[position:]


def split_parameters(text):
    if text.strip() == "void":
        return ()
    return tuple(" ".join(part.split()) for part in text.split(","))


DECLARATION = re.compile(r"(?!typedef\b)(?P<type>\w[\w ]*[ *]+)(?P<name>MPIX?_\w+) ?\((?P<parameters>[^()]*)\)$")


def parse(text):
    """All functions that the preprocessed text declares: name -> (return type, Prototype)."""
    text = re.sub(r"\{[^{}]*\}", "", remove_attributes(text))
    found = {}
    for statement in text.split(";"):
        if match := DECLARATION.match(" ".join(statement.split())):
            prototype = Prototype(match["name"], split_parameters(match["parameters"]))
            found[match["name"]] = (match["type"].strip(), prototype)
    return found


def read_declarations(path):
    with open(path, encoding="utf-8") as file:
        return parse(re.sub(r"//.*", "", file.read()))


def declarations_of_later(table, declared, later):
    """C declarations of the wrapped functions that only a later version of the same MPI has, in the order of the table."""
    wrapped_prototypes(table, later)  # or the later version would be half measured
    lines = []
    for function in table.functions:
        if function.name in later and function.name not in declared:
            return_type, prototype = later[function.name]
            lines.append(f"{return_type} {function.name}({prototype.parameter_list or 'void'});\n")
    return "".join(lines)


def declarations_of_standard(table, declared):
    """C declarations of the wrapped functions that the standard still has, in the order of the table."""
    prototypes = wrapped_prototypes(table, declared)
    kept = [function.name for function in table.functions if function.name in declared and not function.removed_parameters]
    return "".join(f"int {name}({prototypes[name].parameter_list or 'void'});\n" for name in kept)


def wrapped_prototypes(table, declared):
    """Prototypes of the table's wrapped functions that this MPI has, in the order of the table.

    Raises TableError if mpi.h declares what the table does not know, so that a new MPI cannot be half measured.
    """
    unknown = [name for name in declared if not table.is_wrapped(name) and not table.pass_reason(name)]
    if unknown:
        raise TableError("mpi.h declares functions that functions.table lacks; add a row for each: " + ", ".join(unknown))
    if not any(name in declared for name in table.ids):
        raise TableError("no MPI function found in mpi.h")
    prototypes = {}
    for function in table.functions:
        if function.name in declared:
            return_type, prototypes[function.name] = declared[function.name]
            if return_type != "int":
                raise TableError(f"{function.name} returns {return_type}: only functions returning int can be wrapped")
        elif function.removed_parameters:
            prototypes[function.name] = Prototype(function.name, split_parameters(function.removed_parameters))
    return prototypes
