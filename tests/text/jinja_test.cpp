// SPDX-License-Identifier: Apache-2.0
// Rules of the template engine. What expressions give is in jinja_corpus_test.cpp, against Python.
#include <string>

#include "jinja_render.h"
#include "support/catch.h"

using netcl::tests::error_of;
using netcl::tests::render;
using netcl::text::JinjaOptions;

namespace {

const std::string kMessages =
    R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"u1"},)"
    R"({"role":"assistant","content":"a1"},{"role":"user","content":"u2"}]})";

}  // namespace

TEST_CASE("jinja: trim_blocks and lstrip_blocks apply to blocks and comments, not to variables") {
  CHECK(render("x  {% if true %}  y{% endif %}\n z {{ 1 }}\n") == "x    y z 1");
  CHECK(render("a{# x #}\nb{#- y -#}  c") == "abc");
  CHECK(render("{% for m in messages %}\n  {% if m.role == 'user' %}\n[{{ m.content }}]\n"
               "  {% endif %}\n{% endfor %}\nend",
               kMessages) == "[u1]\n[u2]\nend");
  CHECK(render("a\n   {%+ if true %}b{% endif +%}\nc") == "a\n   b\nc");
  CHECK(render("a\n  {{ 1 }}\nb") == "a\n  1\nb");
  CHECK(render("a \n {{- 1 -}} \n b") == "a1b");
  CHECK(render("a\r\nb\rc\n") == "a\nb\nc");
  CHECK(render("a\n\n") == "a\n");
  CHECK(render("{% raw %}\n {{ x }} {% if %}{% endraw %}\ny") == "\n {{ x }} {% if %}y");
  CHECK(render("a {%- raw -%}  {% x %}  {%- endraw -%}  b") == "a{% x %}b");
}

TEST_CASE("jinja: slices have steps and negative ends") {
  CHECK(render("{% for m in messages[::-1] %}{{ loop.index0 }}{{ m.content }};{% endfor %}",
               kMessages) == "0u2;1a1;2u1;3s;");
  CHECK(render("{% for m in messages[1:] %}{{ m.content }}{% endfor %}", kMessages) == "u1a1u2");
  CHECK(render("{{ messages[-1].content }}", kMessages) == "u2");
  CHECK(render("{{ 'abcdef'[1:5:2] }}|{{ 'abc'[5:] }}|{{ 'abc'[::-1] }}") == "bd||cba");
  CHECK(render("{% for m in messages[-2:] %}{{ m.content }}{% endfor %}", kMessages) == "a1u2");
}

TEST_CASE("jinja: searching backwards finds the last place, of short and long texts") {
  CHECK(render("{{ 'abcab'.rfind('ab') }}{{ 'abcab'.rfind('ab', 0, 4) }}{{ 'a'.rfind('') }}"
               "{{ ''.rfind('') }}{{ 'ab'.rfind('abc') }}") == "3010-1");
  CHECK(render("{% set w = 'x' * 50 %}{{ (w ~ 'a' ~ w ~ 'b').rfind(w) }}"
               "{{ (w ~ 'a' ~ w).rsplit(w) }}{{ (w ~ w).rsplit(w, 1) }}{{ w.rfind(w ~ 'x') }}") ==
        "51['', 'a', '']['" + std::string(50, 'x') + "', '']-1");
  CHECK(
      render("{{ 'xaxbx'.rpartition('x') }}{{ 'aXb'.partition('X') }}{{ 'ab'.rpartition('x') }}") ==
      "('xaxb', 'x', '')('a', 'X', 'b')('', '', 'ab')");
}

TEST_CASE("jinja: tojson writes what json.dumps of Python does") {
  const std::string x =
      R"({"x":{"z":1,"a":{"path":"a/b","q":"it's <5 & >2","ko":"\uac12\ud83d\ude00","n":null,)"
      R"("b":true,"f":1.0,"e":[],"big":12345678901234567890}}})";
  CHECK(render("{{ x | tojson }}", x) ==
        "{\"z\": 1, \"a\": {\"path\": \"a/b\", \"q\": \"it's <5 & >2\", \"ko\": "
        "\"\xEA\xB0\x92\xF0\x9F\x98\x80\", \"n\": null, \"b\": true, \"f\": 1.0, \"e\": [], "
        "\"big\": 12345678901234567890}}");
  CHECK(render("{{ [1, {'a': []}] | tojson(indent=2) }}") == "[\n  1,\n  {\n    \"a\": []\n  }\n]");
  CHECK(render("{{ x.a.ko | tojson(ensure_ascii=True) }}", x) == "\"\\uac12\\ud83d\\ude00\"");
  CHECK(render("{{ {'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':')) }}") ==
        "{\"a\":2,\"b\":1}");
  CHECK(render("{{ '\\n\\t\\x01\\x7f\"' | tojson }}") == "\"\\n\\t\\u0001\x7F\\\"\"");
}

TEST_CASE("jinja: none, undefined and what loops leave behind") {
  CHECK(render("{{ tools is none }}{{ tools is defined }}{{ q is defined }}{{ q is none }}",
               R"({"tools":null})") == "TrueTrueFalseFalse");
  CHECK(render("{% set x = 1 %}{% set ns = namespace(v=1) %}{% for m in messages %}"
               "{% set x = x + 1 %}{% set ns.v = ns.v + 1 %}{{ x }}{% endfor %}|{{ x }}{{ ns.v }}",
               kMessages) == "2222|15");
  CHECK(render("{{ true }} {{ none }} {{ 1.0 }} {{ [1, 1.5, none] }}") ==
        "True None 1.0 [1, 1.5, None]");
  CHECK(render("{{ nope }}") == "");
  CHECK(error_of("{{ nope.x }}") == "t:1:9: 'nope' is undefined");
  CHECK(error_of("{{ 1 + nope }}") == "t:1:6: 'nope' is undefined");
  CHECK(render("{{ 'a' if false }}|{{ nope | default('d') }}|{{ '' | default('e', true) }}") ==
        "|d|e");
}

TEST_CASE("jinja: loops know their place") {
  CHECK(render("{% for c in 'abc' %}{{ loop.index }}{{ loop.revindex0 }}{{ loop.first }}"
               "{{ loop.last }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.length }};"
               "{% endfor %}") == "12TrueFalseb3;21FalseFalseac3;30FalseTrueb3;");
  CHECK(render("{% for i in range(6) if i % 2 %}{{ loop.index }}{{ i }}/{{ loop.length }} "
               "{% endfor %}") == "11/3 23/3 35/3 ");
  CHECK(render("{% for i in [] %}x{% else %}none{% endfor %}") == "none");
  CHECK(render("{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}") == "a1b2");
  CHECK(render("{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}"
               "{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}") == "0134");
  CHECK(render("{% for x in [[1, [2]], 3] recursive %}{% if x is iterable %}({{ loop(x) }})"
               "{% else %}{{ x }}{{ loop.depth }}{% endif %}{% endfor %}") == "(12(23))31");
  CHECK(render("{% for x in 'aab' %}{{ loop.cycle('x', 'y') }}{{ loop.changed(x) }} "
               "{% endfor %}") == "xTrue yFalse xTrue ");
  // An else runs unless a round came to its end; Jinja has it so.
  CHECK(render("{% for x in [1] %}{% break %}{% else %}E{% endfor %}") == "E");
}

TEST_CASE("jinja: macros, call blocks, filter blocks, block set and with") {
  CHECK(
      render("{% macro m(a, b='x') %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m(b=2, a=3) }}") ==
      "[1x][32]");
  CHECK(render("{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, k=2) }}") ==
        "(1,){'k': 2}");
  CHECK(render("{% macro m(n) %}{{ caller(n) }}!{% endmacro %}{% call(x) m(4) %}<{{ x }}>"
               "{% endcall %}") == "<4>!");
  CHECK(render("{% filter upper | trim %} ab {% endfilter %}") == "AB");
  CHECK(render("{% set x | upper %}a{{ 1 }}{% endset %}{{ x }}{{ x | length }}") == "A12");
  CHECK(render("{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}") == "3");
  CHECK(render("{% set a, b = 1, 'z' %}{{ b }}{{ a }}") == "z1");
  CHECK(error_of("{% macro m() %}{% endmacro %}{{ m(1) }}") ==
        "t:1:34: macro 'm' takes at most 0 arguments, not 1");
  CHECK(error_of("{% macro m(a) %}{% endmacro %}{{ m(b=1) }}") ==
        "t:1:35: macro 'm' has no parameter 'b'");
}

TEST_CASE("jinja: a variable that a block sets hides one of that name from the block's begin") {
  const std::string x = R"({"x":5})";
  CHECK(render("{% for i in [1] %}{{ x }}{% endfor %}{% set x = 2 %}{{ x }}", x) == "2");
  CHECK(render("{{ x }}{% for i in [1] %}{{ x }}{% endfor %}{% set x = 2 %}{{ x }}", x) == "552");
  CHECK(render("{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% set x = 2 %}{{ m() }}", x) == "2");
  CHECK(render("{% if false %}{% set x = 2 %}{% endif %}{{ x }}", x) == "5");
  CHECK(render("{% for i in [1, 2] %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}", x) ==
        "51525");
}

TEST_CASE("jinja: the operator % of strings minds what it is given") {
  CHECK(render("{{ 'a' % [1] }}{{ '%s' % [1] }}{{ '%(k)s' % {'k': 2, 'l': 3} }}") == "a[1]2");
  CHECK(error_of("{{ 'a' % 1 }}") == "t:1:8: not all arguments are used by the format");
  CHECK(error_of("{{ '%s' % () }}") == "t:1:9: the format needs more arguments");
}

TEST_CASE("jinja: generation blocks mark what lies in them") {
  const auto output = netcl::text::JinjaTemplate(
                          "{% for m in ['a', 'bc'] %}u{% generation %}{{ m }}!{% endgeneration %}"
                          "{% endfor %}.",
                          "t")
                          .render({});
  CHECK(output.text == "ua!ubc!.");
  CHECK(output.generated == std::vector<netcl::text::ByteSpan>{{1, 3}, {4, 7}});
}

TEST_CASE("jinja: the time is the one that is passed in") {
  JinjaOptions options;
  options.now.tm_year = 125;
  options.now.tm_mon = 6;
  options.now.tm_mday = 9;
  options.now.tm_hour = 12;
  options.now.tm_wday = 3;
  CHECK(render("{{ strftime_now('%d %b %Y|%Y-%m-%d|%%|%-d %A %H:%M|%f%z') }}", "{}", options) ==
        "09 Jul 2025|2025-07-09|%|9 Wednesday 12:00|000000");
}

TEST_CASE("jinja: errors name line and column") {
  CHECK(error_of("a\n{{ raise_exception('roles must alternate') }}") ==
        "t:2:19: roles must alternate");
  CHECK(error_of("{% for x in 3 %}{% endfor %}") == "t:1:13: int is nothing to go through");
  CHECK(error_of("\n\n  {% if %}") == "t:3:9: expected an expression, found the end of the tag");
  CHECK(error_of("{% if x %}") == "t:1:11: the block 'if' has no end; add '{% endif %}'");
  CHECK(error_of("{{ 'a' + 1 }}") == "t:1:8: '+' does not work on str and int");
  CHECK(error_of("{{ x | nope }}") == "t:1:8: unknown filter 'nope'");
  CHECK(error_of("{{ x is nope }}") == "t:1:9: unknown test 'nope'");
  CHECK(error_of("{% for i in [] %}{{ i | nope }}{% endfor %}") == "t:1:25: unknown filter 'nope'");
  CHECK(render("{% if false %}{{ x | nope }}{% endif %}{{ 1 if true else x is nope }}") == "1");
  CHECK(error_of("{% include 'x' %}") ==
        "t:1:4: the tag 'include' is not supported in chat templates");
  CHECK(error_of("{% endif %}") == "t:1:4: unknown tag 'endif'");
  CHECK(error_of("{{ 'a }}") == "t:1:4: the string has no end");
  CHECK(error_of("\xC3\xA9{{ ! }}") == "t:1:5: unexpected character '!'");
  CHECK(error_of("{{ (1] }}") == "t:1:6: unexpected ']', expected ')'");
  CHECK(error_of("{# a") == "t:1:1: the comment has no end; add '#}'");
  CHECK(error_of("{% break %}") == "t:1:4: 'break' outside of a loop");
  CHECK(error_of("{{ [1].append(2) }}") ==
        "t:1:14: a value of type list has no attribute 'append'");
  CHECK(error_of("a\xFF") == "t:1:2: the template is not valid UTF-8 from here on");
  CHECK(error_of("a\r\n\rb\xC3\xA9\xC3") == "t:3:3: the template is not valid UTF-8 from here on");
  CHECK(error_of("{{ 1 / 0 }}") == "t:1:6: division by zero");
}

TEST_CASE("jinja: errors of what is evaluated late name where it was written") {
  // Filters that are run element by element while the body of the loop is.
  CHECK(error_of("{% for x in [1, 'a'] | map('abs') %}\n{{ x }}{% endfor %}") ==
        "t:1:24: 'abs' needs a number, not str");
  CHECK(error_of("{% for x in [1, 'a'] if x > 0 %}\n{{ x }}{% endfor %}") ==
        "t:1:29: '>' cannot compare str and int");
  CHECK(error_of("{% for a, b in [[1, 2], [3]] %}\n{{ a }}{% endfor %}") ==
        "t:1:8: expected 2 values to unpack, got 1");
  CHECK(error_of("{% macro m(a, b=1 / 0) %}{% endmacro %}\n{{ m(1) }}") ==
        "t:1:19: division by zero");
  CHECK(error_of("{% macro m() %}{% endmacro %}\n{{ m(1) }}") ==
        "t:2:5: macro 'm' takes at most 0 arguments, not 1");
  CHECK(error_of("\n{% filter abs %}{% endfilter %}") == "t:2:11: 'abs' needs a number, not str");
  CHECK(error_of("\n{% filter length %}a{% endfilter %}") ==
        "t:2:11: a filter or call block must give a string, not int");
  CHECK(error_of("{% set a, b = 1, 2, 3 %}") == "t:1:8: expected 2 values to unpack, got 3");
  CHECK(error_of("{{ [1, 2] | map('abs') | join(1, 2, 3) }}") ==
        "t:1:26: 'join' takes at most 2 arguments, not 3");
  CHECK(error_of("{% with a = 1 %}{{ a }}\n{{ f(*a) }}{% endwith %}") ==
        "t:2:7: int is nothing to go through");
}

TEST_CASE("jinja: filters that depend on chance or are for web pages are refused when they run") {
  CHECK(error_of("{{ [1] | random }}") ==
        "t:1:10: 'random' is not there: a prompt must not depend on chance");
  CHECK(error_of("{{ 'a' | urlize }}") ==
        "t:1:10: 'striptags' and 'urlize' are not there: they are for web pages");
  CHECK(error_of("{{ lipsum() }}") ==
        "t:1:10: 'lipsum' is not there: a prompt must not depend on chance");
  CHECK(render("{{ 'x' if true else [1] | random }}") == "x");
}

TEST_CASE("jinja: nothing leads out of the sandbox") {
  CHECK(render("{{ ''.__class__ }}{{ [].__class__ }}{{ ''['__class__'] }}") == "");
  CHECK(render("{{ self }}{{ open }}{{ __import__ }}") == "");
}
