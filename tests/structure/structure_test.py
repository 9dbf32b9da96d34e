"""Checks the rules of docs/design.md that a compiler does not: who may include whom, budgets, lists.

usage: structure_test.py ROOT

Each rule is a function from the tree (path -> text) to complaints, and has beside it a planted
offence that it must find, so that a rule that has gone blind is noticed.
"""

import os
import re
import sys

FOLDERS = ("core", "nn", "optim", "models", "tests", "examples", "docs")
TOP_FILES = ("meson.build", "meson_options.txt", "README.md", "LICENSE")

# What a folder may include besides itself.
MAY_INCLUDE = {
    "core": (),
    "nn": ("core",),
    "optim": ("core",),
    "models": ("core", "nn"),
}
# The files of core/ outside ops/ that may include kernels: doors to what only kernels may do, and
# those that fill or read memory directly.
DOORS = ("create", "random", "shape", "storage", "tensor", "threads", "version", "anomaly")
# Headers of core/ that are not installed, besides kernels/.
PRIVATE_HEADERS = (
    "core/ops/dispatch.h",
    "core/ops/layout.h",
    "core/ops/operands.h",
    "core/ops/recurrent_steps.h",
    "core/ops/reduction.h",
    "core/ops/windows.h",
    "core/serialize_header.h",
)

HEADER_LINES, SOURCE_LINES, MODEL_LINES, WIDTH = 160, 320, 250, 100
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
CPP = re.compile(r"\.(cpp|h)$")
WEB = re.compile(r"^examples/web/.*\.(js|css)$")


def read_tree(root):
    """Every text file of the checkout by its path, without builds and dot-folders but .ci."""
    tree = {}
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root)
        if relative == ".":
            folders[:] = [f for f in folders if f in FOLDERS or f == ".ci"]
        folders[:] = [f for f in folders if f not in ("__pycache__", "data")]
        for name in files:
            path = os.path.normpath(os.path.join(relative, name))
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    tree[path] = file.read()
            except UnicodeDecodeError:
                pass
    return tree


def library_files(tree):
    """Paths of headers and sources of the library, with their top folder."""
    for path in sorted(tree):
        top = path.split("/")[0]
        if top in MAY_INCLUDE and CPP.search(path):
            yield path, top


def includes(tree, path):
    return INCLUDE.findall(tree[path])


def layers(tree):
    """core <- nn <- models, core <- optim."""
    for path, top in library_files(tree):
        for header in includes(tree, path):
            target = header.split("/")[0]
            if target != top and target not in MAY_INCLUDE[top]:
                yield f"{path}: {top}/ may not include {header}"


def kernels_include_kernels(tree):
    """core/kernels/ includes only core/kernels/."""
    for path in tree:
        if path.startswith("core/kernels/"):
            for header in includes(tree, path):
                if not header.startswith("core/kernels/"):
                    yield f"{path}: a kernel may not include {header}"


def kernels_behind_ops(tree):
    """Kernels are included by core/ops/*.cpp and the doors, and by no public header."""
    for path, _ in library_files(tree):
        if path.startswith("core/kernels/") or path in PRIVATE_HEADERS:
            continue
        door = path in [f"core/{name}.cpp" for name in DOORS]
        if door or re.fullmatch(r"core/ops/\w+\.cpp", path):
            continue
        for header in includes(tree, path):
            if header.startswith("core/kernels/"):
                yield f"{path}: only core/ops/*.cpp may include {header}"


def private_headers(tree):
    """An installed header includes only installed ones, the standard library and fmt."""
    private = re.compile(r"#\s*include\s*<(nlohmann/|cblas|omp|CLI|dlfcn|doctest)[^>]*>")
    for path, _ in library_files(tree):
        if path.endswith(".h") and not is_private(path):
            for header in includes(tree, path):
                if is_private(header):
                    yield f"{path}: is installed, but {header} is not"
            if found := private.search(tree[path]):
                yield f"{path}: is installed, and would make {found[0]} a need of its users"


def is_private(path):
    return path.startswith("core/kernels/") or path in PRIVATE_HEADERS


def full_include_paths(tree):
    """Quoted includes name a file from the top of the tree."""
    for path in sorted(tree):
        if CPP.search(path):
            for header in includes(tree, path):
                if header not in tree and not path.startswith("tests/consumer/"):
                    yield f'{path}: "{header}" is not a path from the top of the tree'


def own_header_first(tree):
    """NAME.cpp includes NAME.h before anything else: so each header compiles by itself."""
    for path, _ in library_files(tree):
        own = path[:-4] + ".h"
        if path.endswith(".cpp") and own in tree:
            found = re.search(r'^#include\s*["<]([^">]+)[">]', tree[path], re.MULTILINE)
            if not found or found[1] != own:
                yield f"{path}: its first include must be {own}"


def parallel_in_one_place(tree):
    """`#pragma omp parallel` only in core/kernels/parallel.h."""
    for path, _ in library_files(tree):
        if path != "core/kernels/parallel.h":
            if re.search(r"#\s*pragma\s+omp\s+(parallel|task|teams)", tree[path]):
                yield f"{path}: threads are started by core/kernels/parallel.h only"


def blas_in_one_place(tree):
    """BLAS only in core/kernels/gemm.* and blas.*."""
    for path, _ in library_files(tree):
        if not re.fullmatch(r"core/kernels/(gemm|blas)\w*\.(cpp|h)", path):
            if re.search(r"cblas_|cblas\.h|openblas_", tree[path]):
                yield f"{path}: BLAS is called by core/kernels/gemm.cpp only"


def budgets(tree):
    """Lines per header, source, script, style and model pair; columns."""
    for path in sorted(tree):
        top = path.split("/")[0]
        if not (CPP.search(path) and top not in ("tests", "docs") or WEB.search(path)):
            continue
        lines = tree[path].count("\n")
        allowed = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
        if lines > allowed:
            yield f"{path}: {lines} lines, allowed are {allowed}; split it by concept"
        if top == "models" and path.endswith(".cpp"):
            pair = lines + tree.get(path[:-4] + ".h", "").count("\n")
            if pair > MODEL_LINES:
                yield f"{path}: {pair} lines with its header, allowed are {MODEL_LINES}"
    for path in sorted(tree):
        if CPP.search(path) or WEB.search(path):
            for number, line in enumerate(tree[path].split("\n"), 1):
                if len(line) > WIDTH:
                    yield f"{path}:{number}: {len(line)} columns, allowed are {WIDTH}"


def opening_comment(tree):
    """Every source and header opens with a comment that says what lives in it."""
    for path in sorted(tree):
        if CPP.search(path) or WEB.search(path):
            if not re.match(r"(//|/\*) \S", tree[path]):
                yield f"{path}: the first line must be a comment that says what lives here"


def tests_mirror(tree):
    """Every source that has a header of its own, but the kernels, has a NAME_test.cpp."""
    for path, _ in library_files(tree):
        own_header = path.endswith(".cpp") and path[:-4] + ".h" in tree
        if own_header and not path.startswith("core/kernels/"):
            test = f"tests/{path[:-4]}_test.cpp"
            if test not in tree:
                yield f"{path}: {test} is missing"


def listed(tree):
    """Every source and every public header is in the file list of a meson.build above it."""
    for path in sorted(tree):
        top = path.split("/")[0]
        header = path.endswith(".h") and top in MAY_INCLUDE and not is_private(path)
        if not (path.endswith(".cpp") or header) or path.startswith("tests/consumer/"):
            continue
        parts = path.split("/")
        for depth in range(len(parts) - 1, 0, -1):
            meson = tree.get("/".join(parts[:depth] + ["meson.build"]), "")
            name = "/".join(parts[depth:])
            # A list of names, "'train'," for train.cpp, is fine for programs.
            if f"'{name}'" in meson or f"'{re.sub('(_bench)?.cpp$', '', name)}'" in meson:
                break
        else:
            yield f"{path}: is in no meson.build"


def no_leftovers(tree):
    """No notes to self."""
    words = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    for path in sorted(tree):
        for number, line in enumerate(tree[path].split("\n"), 1):
            if words.search(line) and path != "docs/design.md":
                yield f"{path}:{number}: {line.strip()}"


def top_level(tree):
    """At the top: the folders of the design, four files, and what begins with a dot."""
    for path in sorted(tree):
        top = path.split("/")[0]
        if top not in (FOLDERS if "/" in path else TOP_FILES) and not top.startswith("."):
            yield f"{top}: does not belong at the top of the tree"


# Each rule with an offence: a file put into the tree, and what is put in.
LONG = "// Long.\n" * 161
RULES = [
    (layers, "core/planted.h", '// A layer.\n#include "nn/module.h"\n'),
    (kernels_include_kernels, "core/kernels/planted.h", '// A.\n#include "core/tensor.h"\n'),
    (kernels_behind_ops, "core/planted.cpp", '// A.\n#include "core/kernels/map.h"\n'),
    (private_headers, "core/ops/planted.h", '// A.\n#include "core/ops/layout.h"\n'),
    (full_include_paths, "core/planted.cpp", '// A.\n#include "tensor.h"\n'),
    (own_header_first, "core/tensor.cpp", '// A.\n#include <vector>\n#include "core/tensor.h"\n'),
    (parallel_in_one_place, "core/ops/planted.cpp", "// A.\n#pragma omp parallel for\n"),
    (blas_in_one_place, "core/ops/planted.cpp", "// A.\nvoid f() { cblas_sgemm(); }\n"),
    (budgets, "core/planted.h", LONG),
    (budgets, "examples/web/planted.js", f"// {'long ' * 20}\n"),
    (opening_comment, "core/planted.h", "#pragma once\n"),
    (tests_mirror, "core/dtype.cpp", "// A.\n"),
    (listed, "core/planted.cpp", "// A.\n"),
    (no_leftovers, "core/planted.cpp", "// TO" + "DO: all of it\n"),
    (top_level, "planted.txt", "A.\n"),
]


def main():
    root = sys.argv[1]
    tree = read_tree(root)
    for name in os.listdir(root):  # folders that read_tree did not enter
        if name not in FOLDERS and os.path.isdir(os.path.join(root, name)):
            if not name.startswith((".", "build")):
                tree[f"{name}/"] = ""
    passed = failed = 0
    for rule, path, text in RULES:
        complaints = list(rule(tree))
        if len(list(rule({**tree, path: text}))) <= len(complaints):
            complaints.append(f"this rule is blind: it did not see a planted {path}")
        print(("FAILED  " if complaints else "ok      ") + rule.__doc__)
        for complaint in complaints:
            print(f"        {complaint}")
        passed += not complaints
        failed += bool(complaints)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
