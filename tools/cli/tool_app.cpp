// SPDX-License-Identifier: Apache-2.0
#include "cli/tool_app.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>

#include "base/error.h"

namespace netcl::cli {

namespace {

constexpr size_t kHelpColumns = 100;

// Usage names the operands, which CLI11 does not know of: ToolApp sorts them out itself. Long
// descriptions are wrapped.
class ToolFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const auto* tool = dynamic_cast<const ToolApp*>(app);
    std::string usage = "\nUsage: " + name + " [OPTIONS]";
    if (tool != nullptr && !tool->operand_shape().empty()) {
      usage += " " + tool->operand_shape() + "\n\n" + tool->operand_help();
    }
    return usage + "\n";
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text = make_description(app) + make_usage(app, name);
    for (const std::string& group : app->get_groups()) {
      const std::vector<const CLI::Option*> options =
          app->get_options([&](const CLI::Option* option) { return option->get_group() == group; });
      if (!group.empty() && !options.empty()) {
        text += make_group(group, false, options);
      }
    }
    text += '\n';
    return text + app->get_footer();
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string text = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    size_t column = text.size();
    if (column + 2 > get_column_width()) {
      text += '\n';
      column = 0;
    }
    std::istringstream words(make_option_desc(option));
    bool line_begins = true;
    for (std::string word; words >> word; line_begins = false) {
      if (!line_begins && column + 1 + word.size() > kHelpColumns) {
        text += '\n';
        column = 0;
        line_begins = true;
      }
      const size_t gap = line_begins ? get_column_width() - column : 1;
      text.append(gap, ' ');
      text += word;
      column += gap + word.size();
    }
    return text + '\n';
  }
};

template <typename T>
T parse_whole(const std::string& text, T min, T max, const std::string& where,
              const std::string& kind) {
  T value{};
  const char* end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  const bool too_large = result.ec == std::errc::result_out_of_range;
  if ((result.ec != std::errc() && !too_large) || result.ptr != end) {
    throw base::UsageError(where + ": " + base::quote(text) + " is not " + kind);
  }
  if (too_large || !(value >= min && value <= max)) {
    std::ostringstream range;
    range << min << " to " << max;
    throw base::UsageError(where + ": " + text + " is out of range; allowed is " + range.str());
  }
  return value;
}

bool is_negative_number(const std::string& text) {
  return text.size() > 1 && text[0] == '-' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Number of single-character edits between two words (Levenshtein 1966), by rows.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

std::string last_name(const std::string& names) {
  const size_t comma = names.rfind(',');
  return comma == std::string::npos ? names : names.substr(comma + 1);
}

// "--x: 1 required N missing" -> "--x needs a value".
std::string readable(const CLI::ParseError& error) {
  std::string text = error.what();
  const size_t colon = text.find(": ");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && colon != std::string::npos &&
      text.find(" missing") != std::string::npos) {
    return text.substr(0, colon) + " needs a value";
  }
  const size_t override_at = text.find(" was given a disallowed flag override");
  if (override_at != std::string::npos) {
    return "--" + text.substr(0, override_at) + " takes no value";
  }
  text = text.substr(0, text.find('\n'));
  return text;
}

}  // namespace

uint64_t parse_integer(const std::string& text, uint64_t min, uint64_t max,
                       const std::string& where) {
  if (is_negative_number(text)) {
    throw base::UsageError(where + ": " + text + " is out of range; allowed is " +
                           std::to_string(min) + " to " + std::to_string(max));
  }
  return parse_whole<uint64_t>(text, min, max, where, "a whole number");
}

uint64_t parse_size(const std::string& text, uint64_t min, uint64_t max, const std::string& where) {
  constexpr std::string_view kUnits = "KMGT";
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view unit = std::string_view(text).substr(digits);
  unsigned shift = 0;
  if (!unit.empty() && kUnits.find(unit[0]) != std::string_view::npos) {
    shift = 10 * (static_cast<unsigned>(kUnits.find(unit[0])) + 1);
    unit.remove_prefix(1);
  }
  const bool is_known = unit.empty() || unit == "B" || (unit == "iB" && shift > 0);
  if (digits == 0 || !is_known) {
    throw base::UsageError(where + ": " + base::quote(text) +
                           " is no size; write bytes, or 64K, 64M, 1G (powers of 1024)");
  }
  const uint64_t number = parse_integer(text.substr(0, digits), 0, UINT64_MAX, where);
  if (number > (UINT64_MAX >> shift) || number << shift < min || number << shift > max) {
    throw base::UsageError(where + ": " + text + " is out of range; allowed is " +
                           std::to_string(min) + " to " + std::to_string(max) + " bytes");
  }
  return number << shift;
}

int64_t parse_signed_integer(const std::string& text, int64_t min, int64_t max,
                             const std::string& where) {
  return parse_whole<int64_t>(text, min, max, where, "a whole number");
}

double parse_real(const std::string& text, double min, double max, const std::string& where) {
  return parse_whole<double>(text, min, max, where, "a number");
}

ToolApp::ToolApp(const std::string& name, const std::string& description)
    : CLI::App(description, name) {
  formatter(std::make_shared<ToolFormatter>());
  get_formatter()->column_width(34);
  allow_extras();
  set_help_flag();
}

ToolApp::~ToolApp() = default;

void ToolApp::take_files(std::vector<std::string>& files, const std::string& shape,
                         const std::string& help) {
  files_ = &files;
  operand_shape_ = shape;
  operand_help_ = help;
}

CLI::Option* ToolApp::add_value(const std::string& names, const std::string& type,
                                const std::string& help,
                                std::function<void(const std::string&)> set) {
  const std::string name = last_name(names);
  CLI::Option* option = add_option(
      names,
      [set = std::move(set), name](const std::vector<std::string>& values) {
        if (values.size() > 1) {
          throw base::UsageError(name + ": given " + std::to_string(values.size()) +
                                 " times; give it once");
        }
        set(values.front());
        return true;
      },
      help);
  // TakeAll hands every occurrence to the callback above, whose message is plainer than CLI11's.
  return option->type_name(type)->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* ToolApp::add_switch(const std::string& names, bool& target, const std::string& help) {
  return add_flag(names, target, help)->disable_flag_override();
}

CLI::Option* ToolApp::add_text(const std::string& names, std::string& target,
                               const std::string& type, const std::string& help) {
  return add_value(names, type, help, [&target, where = last_name(names)](const std::string& text) {
    if (text.empty()) {  // usually a shell variable that is not set
      throw base::UsageError(where + ": is empty; give a value or leave it out");
    }
    target = text;
  });
}

CLI::Option* ToolApp::add_texts(const std::string& names, std::vector<std::string>& target,
                                const std::string& type, const std::string& help) {
  CLI::Option* option = add_option(
      names,
      [&target](const std::vector<std::string>& values) {
        target = values;
        return true;
      },
      help);
  option->type_name(type)->expected(1)->allow_extra_args(false);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return option->option_text(type + " (repeatable)");
}

CLI::Option* ToolApp::add_integer(const std::string& names, uint64_t& target, uint64_t min,
                                  uint64_t max, const std::string& help) {
  const std::string where = last_name(names);
  return add_value(names, "N", help, [&target, min, max, where](const std::string& text) {
    target = parse_integer(text, min, max, where);
  });
}

CLI::Option* ToolApp::add_size(const std::string& names, uint64_t& target, uint64_t min,
                               uint64_t max, const std::string& help) {
  const std::string where = last_name(names);
  return add_value(names, "SIZE", help, [&target, min, max, where](const std::string& text) {
    target = parse_size(text, min, max, where);
  });
}

CLI::Option* ToolApp::add_signed_integer(const std::string& names, int64_t& target, int64_t min,
                                         int64_t max, const std::string& help) {
  const std::string where = last_name(names);
  return add_value(names, "N", help, [&target, min, max, where](const std::string& text) {
    target = parse_signed_integer(text, min, max, where);
  });
}

CLI::Option* ToolApp::add_real(const std::string& names, double& target, double min, double max,
                               const std::string& help) {
  const std::string where = last_name(names);
  return add_value(names, "X", help, [&target, min, max, where](const std::string& text) {
    target = parse_real(text, min, max, where);
  });
}

CLI::Option* ToolApp::add_word(const std::string& names, const std::vector<std::string_view>& words,
                               const std::string& help, std::function<void(size_t)> set) {
  std::string shown;
  for (const std::string_view word : words) {
    shown += (shown.empty() ? "" : "|") + std::string(word);
  }
  const std::string where = last_name(names);
  return add_value(names, shown, help,
                   [words, shown, where, set = std::move(set)](const std::string& text) {
                     const auto found = std::find(words.begin(), words.end(), text);
                     if (found == words.end()) {
                       throw base::UsageError(where + ": " + base::quote(text) +
                                              " is not known; allowed is " + shown);
                     }
                     set(static_cast<size_t>(found - words.begin()));
                   });
}

void ToolApp::refuse_unknown(const std::string& argument) const {
  const std::string name = argument.substr(0, argument.find('='));
  std::string nearest;
  size_t nearest_distance = 3;  // a suggestion further away than two edits confuses
  for (const CLI::Option* option : get_options()) {
    for (const std::string& candidate : option->get_lnames()) {
      const size_t distance = edit_distance(name, "--" + candidate);
      const bool starts = name.size() > 3 && ("--" + candidate).compare(0, name.size(), name) == 0;
      if (distance < nearest_distance || (starts && nearest.empty())) {
        nearest = long_name(*option);
        nearest_distance = std::min(distance, nearest_distance);
      }
    }
  }
  throw base::UsageError("unknown option " + base::quote(name) +
                         (nearest.empty() ? "" : " (did you mean " + nearest + "?)"));
}

void ToolApp::sort_operands() {
  bool options_ended = false;
  for (const std::string& argument : remaining()) {
    if (!options_ended && argument == "--") {
      options_ended = true;
    } else if (!options_ended && argument.size() > 1 && argument[0] == '-') {
      refuse_unknown(argument);
    } else if (files_ == nullptr) {
      throw base::UsageError("unexpected argument " + base::quote(argument) +
                             "; this tool takes options only");
    } else if (argument.empty()) {
      throw base::UsageError("empty file name; '-' is standard input");
    } else {
      files_->push_back(argument);
    }
  }
}

void ToolApp::parse_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;  // CLI11 takes them last first
  for (int i = argc - 1; i > 0; --i) {
    arguments.emplace_back(argv[i]);
  }
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view argument = argv[i];
    if (argument.size() > 3 && argument.substr(0, 2) == "--" && argument.back() == '=' &&
        argument.find('=') == argument.size() - 1) {
      // CLI11 would take the next argument as the value.
      throw base::UsageError(std::string(argument.substr(0, argument.size() - 1)) +
                             " has an empty value after '='");
    }
  }
  try {
    parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::CallForVersion&) {
    throw;
  } catch (const CLI::ParseError& error) {
    for (const std::string& argument : remaining()) {
      if (argument == "--") {
        break;
      }
      if (argument.size() > 1 && argument[0] == '-') {
        refuse_unknown(argument);
      }
    }
    throw base::UsageError(readable(error));
  }
  sort_operands();
}

}  // namespace netcl::cli
