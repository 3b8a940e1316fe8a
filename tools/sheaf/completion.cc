// SPDX-License-Identifier: MIT
//
// sheaf completion: what a shell has to know to complete our command lines, read off the options
// themselves.
#include <CLI/CLI.hpp>
#include <iostream>

#include "command.h"
#include "options.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

struct Word {
  std::string text, help;
  std::vector<std::string> values = {};  // of an option: those it takes, where they are few
  std::string value = {};                // what stands for its value in the help; empty: a flag
};

// A text for a shell between single quotes: none of the help texts may end them.
std::string first_sentence(std::string help) {
  help = help.substr(0, help.find_first_of(";(\n"));
  std::erase_if(help,
                [](char c) { return c == '\'' || c == '"' || c == '[' || c == ']' || c == ':'; });
  help.erase(help.find_last_not_of(' ') + 1);
  return help;
}

std::vector<Word> subcommands_of(const CLI::App& app) {
  std::vector<Word> words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_name().empty() && !command->get_group().empty()) {
      words.push_back({command->get_name(), first_sentence(command->get_description())});
    }
  }
  return words;
}

// What follows a command and is no option, where it is one of a few words. `sheaf help` is no
// command of CLI11's.
struct Argument {
  std::string command, name;
  std::vector<std::string> values;
};
std::vector<Argument> arguments_of(const CLI::App& app) {
  Argument help{"help", "command", {}};
  for (const Word& command : subcommands_of(app)) {
    help.values.push_back(command.text);
  }
  return {std::move(help), {"completion", "shell", {"bash", "zsh", "fish"}}};
}

std::vector<Word> options_of(const CLI::App& command) {
  std::vector<Word> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const auto found = all_choices().find(option);
      words.push_back({"--" + name, first_sentence(option->get_description()),
                       found == all_choices().end() ? std::vector<std::string>() : found->second,
                       option->get_items_expected_max() == 0 ? "" : option->get_option_text()});
    }
  }
  return words;
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += cat(text.empty() ? "" : " ", word);
  }
  return text;
}

std::string joined(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) {
    text += cat(text.empty() ? "" : " ", word.text);
  }
  return text;
}

void print_bash(const CLI::App& app) {
  std::cout << "# Completion of sheaf for bash; printed by `sheaf completion bash`.\n"
               "_sheaf() {\n"
               "  local current=${COMP_WORDS[COMP_CWORD]} words=\n"
               "  if ((COMP_CWORD == 1)); then\n"
            << "    words='" << joined(subcommands_of(app)) << " help --help --version'\n"
            << "  elif [[ $current == -* ]]; then\n    case ${COMP_WORDS[1]} in\n";
  for (const Word& command : subcommands_of(app)) {
    std::cout << "      " << command.text << ") words='"
              << joined(options_of(*app.get_subcommand(command.text))) << "' ;;\n";
  }
  std::cout << "    esac\n  else\n    case \"${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD - 1]}\" in\n";
  for (const Argument& argument : arguments_of(app)) {
    std::cout << "      '" << argument.command << " " << argument.command << "') words='"
              << spaced(argument.values) << "' ;;\n";
  }
  for (const Word& command : subcommands_of(app)) {
    for (const Word& option : options_of(*app.get_subcommand(command.text))) {
      if (!option.values.empty()) {
        std::cout << "      '" << command.text << " " << option.text << "') words='"
                  << spaced(option.values) << "' ;;\n";
      }
    }
  }
  std::cout << "    esac\n  fi\n"
               "  if [[ -n $words ]]; then\n"
               "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
               "  else\n"
               "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
               "  fi\n}\n"
               "complete -o filenames -F _sheaf sheaf\n";
}

void print_zsh(const CLI::App& app) {
  std::cout << "#compdef sheaf\n# Printed by `sheaf completion zsh`.\n"
               "_sheaf() {\n  local -a commands=(\n";
  for (const Word& command : subcommands_of(app)) {
    std::cout << "    '" << command.text << ":" << command.help << "'\n";
  }
  std::cout << "    'help:Print the help of a command'\n"
               "  )\n  if ((CURRENT == 2)); then\n"
               "    _describe 'command' commands\n    return\n  fi\n"
               "  case \"$words[2] $CURRENT\" in\n";
  for (const Argument& argument : arguments_of(app)) {
    std::cout << "    '" << argument.command << " 3')\n      compadd " << spaced(argument.values)
              << "\n      return ;;\n";
  }
  std::cout << "  esac\n  case $words[2] in\n";
  for (const Word& command : subcommands_of(app)) {
    std::cout << "    " << command.text << ")\n      _arguments";
    for (const Word& option : options_of(*app.get_subcommand(command.text))) {
      const std::string values =
          option.values.empty() ? "_files" : cat("(", spaced(option.values), ")");
      std::cout << " \\\n        '" << option.text << "[" << option.help << "]"
                << (option.value.empty() ? "" : cat(":", option.value, ":", values)) << "'";
    }
    std::cout << " \\\n        '*:file:_files' ;;\n";
  }
  std::cout << "  esac\n}\n_sheaf \"$@\"\n";
}

void print_fish(const CLI::App& app) {
  std::cout << "# Completion of sheaf for fish; printed by `sheaf completion fish`.\n"
               "complete -c sheaf -n __fish_use_subcommand -f -a help -d 'Print the help of a "
               "command'\n";
  for (const Argument& argument : arguments_of(app)) {
    std::cout << "complete -c sheaf -n '__fish_seen_subcommand_from " << argument.command
              << "' -f -a '" << spaced(argument.values) << "'\n";
  }
  for (const Word& command : subcommands_of(app)) {
    std::cout << "complete -c sheaf -n __fish_use_subcommand -f -a " << command.text << " -d '"
              << command.help << "'\n";
    for (const Word& option : options_of(*app.get_subcommand(command.text))) {
      std::cout << "complete -c sheaf -n '__fish_seen_subcommand_from " << command.text << "' -l "
                << option.text.substr(2)
                << (option.value.empty()    ? ""
                    : option.values.empty() ? " -r"
                                            : cat(" -x -a '", spaced(option.values), "'"))
                << " -d '" << option.help << "'\n";
    }
  }
}

}  // namespace

void add_completion(CLI::App& app, Command& chosen) {
  static std::string shell;
  CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
  command->footer("Examples:\n  source <(sheaf completion bash)");
  command->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->option_text("SHELL");
  command->callback([&app, &chosen] {
    chosen = [&app] {
      shell == "bash" ? print_bash(app) : shell == "zsh" ? print_zsh(app) : print_fish(app);
      return kSuccess;
    };
  });
}

}  // namespace sheaf::cli
