// SPDX-License-Identifier: Apache-2.0
// The origin of every byte, through everything that a template can do with it.
#include <string>

#include "jinja_render.h"
#include "support/catch.h"

using netcl::text::ByteSpan;
using netcl::text::JinjaOutput;
using netcl::text::JinjaTemplate;
using netcl::text::JinjaVariable;

namespace {

// The output with the bytes that the template did not write in brackets. u = "us er" and
// d = {"k": "v"} come from outside, bos = "<s>" is a special token.
std::string shown(const std::string& source) {
  const std::vector<JinjaVariable> variables = {
      {"u", "us er", false},
      {"d", {{"k", "v"}}, false},
      {"n", 7, false},
      {"bos", "<s>", true},
  };
  const JinjaOutput output = JinjaTemplate(source, "t").render(variables);
  std::string text;
  uint64_t at = 0;
  const auto add_untrusted = [&](uint64_t end) {
    if (end > at) {
      text += "[" + output.text.substr(at, end - at) + "]";
    }
  };
  for (const ByteSpan& span : output.trusted) {
    add_untrusted(span.begin);
    text += output.text.substr(span.begin, span.end - span.begin);
    at = span.end;
  }
  add_untrusted(output.text.size());
  return text;
}

}  // namespace

TEST_CASE("jinja trust: literals and special tokens are the template's, variables are not") {
  CHECK(shown("a{{ 'b' }}{{ bos }}{{ u }}c") == "ab<s>[us er]c");
  CHECK(shown("{{ 'a' ~ u ~ 'b' }}{{ 'a' + u + 'b' }}") == "a[us er]ba[us er]b");
  CHECK(shown("{{ ('a' + u)[::2] }}|{{ (u + 'ab')[3:6] }}|{{ (u ~ 'x')[-1] }}") == "a[se]|[er]a|x");
  CHECK(shown("{{ ('<' ~ u ~ '>') * 2 }}") == "<[us er]><[us er]>");
}

TEST_CASE("jinja trust: filters and methods keep it") {
  CHECK(shown("{{ (' a' ~ u ~ 'b ') | trim | upper }}") == "A[US ER]B");
  CHECK(shown("{{ ('a' ~ u) | replace('s', 'S') }}") == "a[u]S[ er]");
  CHECK(shown("{{ ('ab' ~ u).replace('b', u) }}") == "a[us erus er]");
  CHECK(shown("{{ (u ~ '-').split(' ') | join('+') }}") == "[us]+[er]-");
  CHECK(shown("{{ ['a', u] | join(bos) }}") == "a<s>[us er]");
  CHECK(shown("{{ bos.join([u, 'x']) }}") == "[us er]<s>x");
  CHECK(shown("{{ ('a' ~ u ~ '\\n') | tojson }}") == "[\"]a[us er]\\n[\"]");
  CHECK(shown("{{ ['a', u] }}") == "[[']a[', 'us er']]");
  CHECK(shown("{{ '<%s>' % u }}{{ '<{}>'.format(u) }}{{ '<%s>' | format(u) }}") ==
        "<[us er]><[us er]><[us er]>");
  CHECK(shown("{{ ('a' ~ u) | title }}{{ ('a' ~ u).capitalize() }}") == "A[us Er]A[us er]");
  CHECK(shown("{{ ('<' ~ u) | e }}{{ ('<' ~ u) | safe }}") == "&lt;[us er]<[us er]");
  CHECK(shown("{{ ('a' ~ u) | reverse }}{{ ('a' ~ u) | list | last }}") == "[re su]a[r]");
  CHECK(shown("{{ ('a\\n' ~ u) | indent('>') }}") == "a[\n]>[us er]");
  CHECK(shown("{{ ('ab ' ~ u) | wordwrap(4) }}") == "ab[\nus\ner]");
  CHECK(shown("{{ ('ab' ~ u) | wordwrap(2, true, '+') }}") == "ab+[us]+[er]");
  CHECK(shown("{{ ['a', u] | pprint }}{{ d | xmlattr }}") == "[[']a[', 'us er'] k=\"v\"]");
  CHECK(shown("{{ '%c' % n }}{{ '{:c}'.format(n) }}") == "[\a\a]");
  CHECK(shown("{{ [u, 'a'] | sort | first }}{{ [u, 'a'] | map('upper') | join }}") == "a[US ER]A");
}

TEST_CASE("jinja trust: blocks, macros and loops keep it") {
  CHECK(shown("{% set x %}a{{ u }}{% endset %}{{ x }}") == "a[us er]");
  CHECK(shown("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(u) ~ m('l') }}") == "<[us er]><l>");
  CHECK(shown("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}c{{ u }}{% endcall %}") ==
        "<c[us er]>");
  CHECK(shown("{% filter upper %}a{{ u }}{% endfilter %}") == "A[US ER]");
  CHECK(shown("{% for c in 'a' ~ u[:1] %}{{ c }}{% endfor %}") == "a[u]");
  CHECK(shown("{% generation %}a{{ u }}{% endgeneration %}") == "a[us er]");
  CHECK(shown("{% set ns = namespace(s='') %}{% for c in [bos, u] %}{% set ns.s = ns.s + c %}"
              "{% endfor %}{{ ns.s }}") == "<s>[us er]");
  // Names of arguments may come from outside too.
  CHECK(shown("{% macro m() %}{{ kwargs | first }}{% endmacro %}{{ m(**{u: 1}) }}") == "[us er]");
  CHECK(shown("{{ dict(**{u: 1}) | first }}{{ namespace(**{u: 1}) }}") ==
        "[us er<Namespace {'us er': ]1[}>]");
  CHECK(shown("{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}{{ d.k }}{{ d }}") ==
        "[k]=[vv{'k': 'v'}]");
}

TEST_CASE("jinja trust: numbers are trusted only where the template counts") {
  CHECK(shown("{{ 1 }}{{ 1 + 2 }}{{ n }}{{ n + 1 }}{{ true }}{{ none }}") == "13[78]TrueNone");
  CHECK(shown("{% for c in u %}{{ loop.index }}{% endfor %}") == "12345");
  CHECK(shown("{{ u | length }}{{ '5' | int + 1 }}{{ (u ~ '5')[-1] | int }}") == "[5]65");
  CHECK(shown("{{ '<%d>' % n }}{{ range(2) | join }}") == "<[7]>01");
}
