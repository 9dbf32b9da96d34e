"""Writes the C++ source that holds the files of this folder: how scripts and styles get into programs.

usage: embed.py OUTPUT FILE...
"""

import os
import sys

HEAD = """// Made from examples/web/ by embed.py.
#include "examples/common/web_files.h"

#include "core/error.h"

namespace gradzoo::examples {

std::string_view web_file(const std::string& name) {
"""
TAIL = """  fail("web_file: there is no file '{}'", name);
}

}  // namespace gradzoo::examples
"""


def main():
    output, *paths = sys.argv[1:]
    text = HEAD
    for path in paths:
        with open(path, encoding="utf-8") as file:
            content = file.read()
        assert ')web"' not in content, path
        text += f'  if (name == "{os.path.basename(path)}") return R"web({content})web";\n'
    with open(output, "w", encoding="utf-8") as file:
        file.write(text + TAIL)


if __name__ == "__main__":
    main()
