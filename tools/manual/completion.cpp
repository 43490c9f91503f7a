#include "tools/manual/completion.hpp"

#include "tools/launch/settings.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr const char* beginning = R"(# Completion of libprofile for bash. Written by the build.
_libprofile() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options values=
    # bash splits at = : --format=json is three words
    [[ $current == "=" ]] && current=
    [[ $previous == "=" ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "COMMANDS --help --version" -- "$current"))
        return
    fi
)";

// Behind the tables. The program of `run` has its own completion.
constexpr const char* rest = R"(    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ $command == run ]] && declare -F _command_offset >/dev/null; then
        local word
        for ((word = 2; word < COMP_CWORD; ++word)); do
            [[ ${COMP_WORDS[word]} == -- ]] && { _command_offset $((word + 1)); return; }
        done
    fi
}
complete -o bashdefault -o default -F _libprofile libprofile
)";

/// "a|b|c" as words.
std::string words(std::string choices) {
    for (char& c : choices)
        if (c == '|') c = ' ';
    return choices;
}

std::string choices_of_run() {
    std::string out;
    for (const OptionRow& row : option_table)
        if (row.type == OptionType::Choice || row.type == OptionType::ChoiceOrText)
            out += fmt::format("        run\\ {}) values=\"{}\" ;;\n", flag_of(row), words(row.choices));
    return out;
}

std::string options_of_run() {
    std::string out = "--help --print-env --";
    for (const OptionRow& row : option_table) out += " " + flag_of(row);
    return out;
}

} // namespace

std::string bash_completion(const std::vector<std::unique_ptr<Command>>& commands) {
    CLI::App app;
    bool ignored = false;
    declare(app, commands, {ignored, ignored, ignored});
    std::string names = "run", options = fmt::format("        run) options=\"{}\" ;;\n", options_of_run()), values;
    for (const auto& command : commands) {
        names += std::string(" ") + command->name();
        std::string own;
        for (const CLI::Option* option : app.get_subcommand(command->name())->get_options()) {
            const std::string choices = option->get_type_name();
            for (const std::string& name : option->get_lnames()) {
                own += (own.empty() ? "--" : " --") + name;
                if (choices.find('|') != std::string::npos)
                    values += fmt::format("        {}\\ --{}) values=\"{}\" ;;\n", command->name(), name, words(choices));
            }
        }
        options += fmt::format("        {}) options=\"{}\" ;;\n", command->name(), own);
    }
    std::string out = beginning;
    out.replace(out.find("COMMANDS"), 8, names);
    out += "    case $command in\n" + options + "    esac\n";
    out += "    case \"$command $previous\" in\n" + choices_of_run() + values + "    esac\n";
    return out + rest;
}

} // namespace libprofile::tools
