// Settings files: the long options of a program, a line each,
//
//     # what a run was made with
//     lr = 0.002
//     norm-first = true
//
// Keys are the options' names without the dashes, with _ or - between words. The command line wins.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>

namespace gradzoo::examples {

/// Gives every option that the file at `path` names, and the command line does not, its value.
/// Throws, naming file and line, for a key that is no option (with the nearest ones), one of
/// `without`, or there twice, for a value that the option refuses, and for a line that is neither
/// a setting, a comment nor blank.
void apply_settings(CLI::App& app, const std::string& path, const std::set<std::string>& without);

/// All options as they are now, except those of `without` (names without dashes) and those that
/// have no value: a settings file.
std::string settings_text(const CLI::App& app, const std::set<std::string>& without);

}  // namespace gradzoo::examples
