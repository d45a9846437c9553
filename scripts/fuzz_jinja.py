#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random templates and what Python's jinja2, set up as transformers does it, makes of them.

usage: fuzz_jinja.py [--seed N] [--count N] -o FILE

Needs scripts/requirements-chat.txt (scripts/venv.sh). Each line of FILE is a JSON array: a template and its output, or
null where it must fail. The first line holds the variables. tests/text/jinja_corpus_test.cpp replays such a file:

  python=$(scripts/venv.sh scripts/requirements-chat.txt)
  $python scripts/fuzz_jinja.py --seed 1 --count 20000 -o /tmp/corpus.jsonl
  NETCL_JINJA_CORPUS=/tmp/corpus.jsonl build/release/tests/text/test_text_chat "jinja corpus*"

tests/text/data/jinja_corpus.jsonl is seed 0 with 2600 templates.
"""
import argparse
import json
import random
import re
import warnings

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

VARIABLES = {
    "s": "Hello World",
    "t": "  pad\tded\n",
    "u": "\u00e9t\u00e9 \u65e5\u672c \U0001f642 \u00dfx",
    "e": "",
    "n": 7,
    "m": -3,
    "z": 0,
    "f": 2.5,
    "g": -0.125,
    "b": True,
    "o": None,
    "l": [3, 1, 2],
    "w": ["b", "A", "c", "a"],
    "d": {"a": 1, "b": "two", "c": [1, 2], "items": 5},
    "r": [{"role": "user", "n": 2}, {"role": "bot", "n": 1}, {"role": "User", "n": 3}, {"n": 1}],
    "x": [],
    "y": {},
}


def fail(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def not_constant(self, eval_ctx=None):
    raise jinja2.nodes.Impossible()


def environment():
    # Slices of constants, which jinja2 evaluates early, would be undefined where Python refuses them.
    jinja2.nodes.Slice.as_const = not_constant
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = fail
    return env


class Maker:
    """Random expressions of a wanted type, now and then of another one."""

    def __init__(self, rng):
        self.rng = rng
        self.names = []  # variables of the blocks around

    def pick(self, *choices):
        return self.rng.choice(choices)

    def any(self, depth):
        return self.pick(self.integer, self.real, self.string, self.string, self.list, self.dict, self.boolean)(depth)

    def of(self, wanted, depth):
        return (self.any if self.rng.random() < 0.04 else wanted)(depth)

    def operand(self, text):
        return text if re.fullmatch(r"\w+|'[^']*'|\([^()]*\)|\[[^\[\]]*\]", text) else f"({text})"

    def wrapped(self, wanted, depth):
        text = self.of(wanted, depth)
        return text if self.rng.random() < 0.25 else self.operand(text)

    def integer(self, depth):
        r, d = self.rng, depth - 1
        if depth <= 0:
            return self.pick("n", "m", "z", str(r.randrange(10)), str(r.randrange(2000)), "0x1F", "1_000", "l[1]")
        i = lambda: self.wrapped(self.integer, d)
        s = lambda: self.wrapped(self.string, d)
        a = lambda: self.wrapped(self.list, d)
        return self.pick(
            lambda: f"{i()} {self.pick('+', '-', '*', '//', '%')} {i()}", lambda: f"-{i()}", lambda: f"+{i()}",
            lambda: f"{i()} ** {r.randrange(5)}", lambda: f"{a()}|length", lambda: f"{s()}|length",
            lambda: f"{s()}.{self.pick('find', 'count', 'rfind', 'index')}({s()})", lambda: f"{s()}|int",
            lambda: f"{s()}|int({i()})", lambda: f"{self.wrapped(self.real, d)}|int", lambda: f"{a()}|sum",
            lambda: f"{a()}.index({i()})", lambda: f"{a()}.count({i()})", lambda: f"{i()}|abs",
            lambda: f"{i()} if {self.of(self.boolean, d)} else {i()}", lambda: f"{a()}|{self.pick('first', 'last')}",
            lambda: f"{a()}|{self.pick('min', 'max')}", lambda: f"d[{s()}]", lambda: f"{s()}|wordcount",
            lambda: f"{i()}|round({self.pick('0', '-1', '2')})", lambda: f"d.get({s()}, {i()})")()

    def real(self, depth):
        d = depth - 1
        if depth <= 0:
            return self.pick("f", "g", "1.0", "0.1", "1e3", "2.5e-7", "1e16", "123456789.125", "1e22", "0.30000000000000004")
        x = lambda: self.wrapped(self.pick(self.real, self.integer), d)
        return self.pick(
            lambda: f"{x()} {self.pick('+', '-', '*', '/', '//', '%')} {x()}", lambda: f"-{x()}",
            lambda: f"{x()}|float", lambda: f"{self.wrapped(self.string, d)}|float({x()})", lambda: f"{x()}|abs",
            lambda: f"{x()}|round({self.pick('0', '1', '2', '3', '-1')})",
            lambda: f"{x()}|round(1, {self.pick('0', chr(39) + 'ceil' + chr(39), chr(39) + 'floor' + chr(39))})",
            lambda: f"{x()} ** {self.pick('2', '0', '-1')}")()

    LITERALS = ["''", "'a'", "\"it's\"", "'say \"hi\"'", "'a,b,,c'", "'x y  z '", "'\\n'", "'\\t\\\\'", "'line1\\nline2\\r\\nl3'",
                "'42'", "' -7 '", "'3.5'", "'1e2'", "'\u00c4\u00df\u03a3'", "'abcabc'", "'<b>&'", "'ab'", "'b'", "'role'", "' '",
                "'a\\u00e9\\x41\\U0001f600'", "'HELLO wORLD-foo (bar)'", "'\\q\\''",
                "'a well-known state-of-the-art x--y -- z, e-mail 3-4 a-b ab-cd---ef'",
                "'It\\'s a long line, so long that it\\tdoes not fit into eighty characters by far.\\n\\nOr\\u2003two.'"]

    def string(self, depth):
        r, d = self.rng, depth - 1
        if depth <= 0:
            return self.pick("s", "t", "u", "e", "w[0]", "d.b", *self.LITERALS, *self.names)
        s = lambda: self.wrapped(self.string, d)
        i = lambda: self.of(self.integer, d - 1)
        a = lambda: self.wrapped(self.list, d)
        x = lambda: self.wrapped(self.any, d)
        part = lambda: self.pick("", i())
        return self.pick(
            lambda: f"{s()} + {s()}", lambda: f"{x()} ~ {x()}", lambda: f"{s()} * {r.randrange(4)}",
            lambda: f"{s()}[{i()}]", lambda: f"{s()}[{part()}:{part()}]", lambda: f"{s()}[{part()}:{part()}:{part()}]",
            lambda: f"{s()}|{self.pick('upper', 'lower', 'title', 'capitalize', 'trim', 'string', 'e', 'safe', 'reverse', 'forceescape', 'urlencode')}",
            lambda: f"{s()}.{self.pick('upper', 'lower', 'title', 'capitalize', 'strip', 'lstrip', 'rstrip', 'swapcase', 'casefold')}()",
            lambda: f"{s()}.{self.pick('strip', 'lstrip', 'rstrip', 'removeprefix', 'removesuffix')}({s()})",
            lambda: f"{s()}|trim({s()})", lambda: f"{s()}|replace({s()}, {s()})", lambda: f"{s()}|replace({s()}, {s()}, {i()})",
            lambda: f"{s()}.replace({s()}, {s()})", lambda: f"{s()}.replace({s()}, {s()}, {i()})",
            lambda: f"{a()}|join({s()})", lambda: f"{s()}.join({a()})", lambda: f"{x()}|string", lambda: f"{x()}|tojson",
            lambda: f"{x()}|tojson(indent={self.pick('2', '0', 'none', chr(39) + '-' + chr(39))})",
            lambda: f"{x()}|tojson(ensure_ascii=true, sort_keys=true)", lambda: f"{x()}|tojson(separators=(',', ':'))",
            lambda: f"{s()}.{self.pick('ljust', 'rjust', 'center')}({r.randrange(15)}, {self.pick(chr(39) + '*' + chr(39), s())})",
            lambda: f"{s()}.zfill({r.randrange(9)})", lambda: f"{s()}|center({r.randrange(20)})",
            lambda: f"{s()}|indent({self.pick('2', '4, true', '2, false, true', s())})",
            lambda: f"{s()}|truncate({r.randrange(3, 12)}{self.pick('', ', true', ', false, ' + s(), ', true, ' + chr(39) * 2 + ', 0')})",
            lambda: f"'{self.pick('%s', '%r', '%5s|', '%-6s|', '%.2s', '%s%%', '%d', '%05d', '%+d', '%x', '%#o', '%.2f', '%8.3f', '%e', '%g', '%c', '%i %s')}' % {x()}",
            lambda: f"'{self.pick('%s %s', '%s-%d', '%5.1f|%-5s', '%(a)s')}'|format({x()}, {x()})",
            lambda: f"'{self.pick('{}', '{:>8}', '{:^9}|', '{:*<6}', '{:05d}', '{:,}', '{:.2f}', '{:e}', '{:x}', '{!r}', '{0}{0}', '{:%}', '{:+}', '{:_}', '{:g}', '{:#x}', '{:c}', '{:04c}|{:n}', '{:<3c}|')}'.format({x()})",
            lambda: f"{s()} if {self.of(self.boolean, d)}", lambda: f"{s()} or {s()}", lambda: f"{s()} and {s()}",
            lambda: f"{s()}.expandtabs({r.randrange(6)})", lambda: f"nope|default({s()})", lambda: f"{x()}|default({s()}, true)",
            lambda: f"{x()}|pprint", lambda: f"{self.wrapped(self.dict, d)}|xmlattr{self.pick('', '(false)')}",
            lambda: f"{s()}|wordwrap({self.pick('', str(r.randrange(14)), str(r.randrange(1, 9)) + ', false', '5, true, ' + s(), '6, break_on_hyphens=false')})",
            lambda: f"{i()}|filesizeformat", lambda: f"d|attr({s()})", lambda: f"r[{r.randrange(4)}].role",
            lambda: f"{self.wrapped(self.list, d)}|{self.pick('first', 'last')}")()

    def list(self, depth):
        r, d = self.rng, depth - 1
        if depth <= 0:
            return self.pick("l", "w", "x", "[1, 2.0, true]", "['a', 'B']", "(1, 'x')", "()", "(3,)", "range(4)|list", "r", "[[2, 'b'], [1, 'a']]")
        s = lambda: self.wrapped(self.string, d)
        a = lambda: self.wrapped(self.list, d)
        x = lambda: self.of(self.any, d)
        i = lambda: self.of(self.integer, d - 1)
        part = lambda: self.pick("", i())
        return self.pick(
            lambda: "[" + ", ".join(x() for _ in range(r.randrange(4))) + "]", lambda: f"({x()}, {x()})", lambda: f"{a()} + {a()}",
            lambda: f"{a()} * {r.randrange(3)}", lambda: f"{a()}[{part()}:{part()}]", lambda: f"{a()}[{part()}:{part()}:{part()}]",
            lambda: f"{s()}.{self.pick('split', 'rsplit')}({self.pick('', s(), s() + ', 1', 'none, 1')})", lambda: f"{s()}.splitlines({self.pick('', 'true')})",
            lambda: f"{s()}.{self.pick('partition', 'rpartition')}({s()})", lambda: f"{s()}|list", lambda: f"{a()}|list",
            lambda: f"{a()}|sort{self.pick('', '(true)', '(case_sensitive=true)')}", lambda: f"{a()}|unique|list", lambda: f"{a()}|reverse|list",
            lambda: f"{a()}|map({self.pick(*(repr(f) for f in ('upper', 'string', 'length', 'int', 'trim', 'tojson', 'first', 'abs', 'e')))})|list",
            lambda: f"{a()}|{self.pick('select', 'reject')}({self.pick('', *(repr(t) for t in ('odd', 'string', 'defined', 'number', 'mapping', 'none')))})|list",
            lambda: f"{a()}|select({self.pick(repr('gt'), repr('=='), repr('lt'), repr('in'), repr('ne'))}, {x()})|list",
            lambda: f"r|{self.pick('selectattr', 'rejectattr')}({self.pick(repr('role'), repr('n'), repr('role') + ', ' + repr('equalto') + ', ' + s(), repr('n') + ', ' + repr('gt') + ', 1', repr('role') + ', ' + repr('defined'))})|map(attribute='n')|list",
            lambda: f"r|map(attribute={self.pick(repr('role'), repr('n'))}{self.pick('', ', default=' + s())})|list",
            lambda: f"r|sort(attribute={self.pick(repr('n'), repr('role'), repr('n,role'))}{self.pick('', ', reverse=true')})",
            lambda: f"r|groupby({self.pick(repr('n'), repr('role') + ', default=' + repr('q'))})", lambda: f"{a()}|batch({r.randrange(1, 4)}{self.pick('', ', 0')})|list",
            lambda: f"{a()}|slice({r.randrange(1, 4)}{self.pick('', ', 0')})|list", lambda: f"{self.wrapped(self.dict, d)}.{self.pick('items', 'keys', 'values')}()|list",
            lambda: f"{self.wrapped(self.dict, d)}|{self.pick('dictsort', 'items|list', 'list', 'dictsort(by=' + repr('value') + ')')}",
            lambda: f"range({i()}{self.pick('', ', ' + i(), ', ' + i() + ', ' + i())})|list", lambda: f"{self.wrapped(self.dict, d)}.{self.pick('items', 'keys', 'values')}()")()

    def dict(self, depth):
        d = depth - 1
        if depth <= 0:
            return self.pick("d", "y", "{'k': 'v', 1: 2}", "{1: 'i', 1.0: 'f', true: 'b'}", "r[0]", "dict(a=1, b=none)")
        return self.pick(
            lambda: "{" + ", ".join(f"{self.of(self.pick(self.string, self.integer), d - 1)}: {self.of(self.any, d)}" for _ in range(self.rng.randrange(3))) + "}",
            lambda: f"dict({self.wrapped(self.dict, d)}, q={self.of(self.any, d)})", lambda: f"dict({self.wrapped(self.list, d)})")()

    def boolean(self, depth):
        d = depth - 1
        if depth <= 0:
            return self.pick("b", "true", "false", "nope", "o", "z", "e", "x")
        x = lambda: self.wrapped(self.any, d)
        s = lambda: self.wrapped(self.string, d)
        return self.pick(
            lambda: f"{x()} {self.pick('==', '!=')} {x()}", lambda: f"{self.wrapped(self.integer, d)} {self.pick('<', '<=', '>', '>=')} {self.wrapped(self.real, d)}",
            lambda: f"{s()} {self.pick('<', '<=', '>', '>=')} {s()}", lambda: f"{x()} {self.pick('<', '>=')} {x()}",
            lambda: f"{x()} {self.pick('in', 'not in')} {self.wrapped(self.pick(self.list, self.dict), d)}", lambda: f"{s()} {self.pick('in', 'not in')} {s()}",
            lambda: f"not {x()}", lambda: f"{x()} {self.pick('and', 'or')} {x()}",
            lambda: f"{x()} is {self.pick('', 'not ')}{self.pick('defined', 'undefined', 'none', 'string', 'number', 'integer', 'float', 'mapping', 'sequence', 'iterable', 'boolean', 'true', 'false', 'callable', 'escaped', 'lower', 'upper')}",
            lambda: f"{self.wrapped(self.integer, d)} is {self.pick('odd', 'even', 'divisibleby 3', 'eq 7', 'gt 2', 'in l')}",
            lambda: f"{s()}.{self.pick('startswith', 'endswith')}({s()})",
            lambda: f"{s()}.is{self.pick('digit', 'alpha', 'alnum', 'upper', 'lower', 'space', 'title', 'numeric', 'decimal', 'ascii', 'identifier', 'printable')}()",
            lambda: f"1 {self.pick('<', '<=')} {self.wrapped(self.integer, d)} {self.pick('<', '!=')} 9", lambda: f"nope{self.pick('', '.a', '|length', ' == nope2')}")()

    # Blocks, with white space of all kinds around their tags.

    def tag(self, text):
        left, right = self.pick("", "", "", "-", "+"), self.pick("", "", "", "-", "+")
        return self.pick("", "", "\n", "  ", " x\n  ", "\n\n") + "{%" + left + f" {text} " + right + "%}" + self.pick("", "", "\n", "\n  ", " y")

    def block(self, depth):
        r, d = self.rng, depth - 1
        t = self.tag
        if depth <= 0:
            return self.pick(lambda: self.pick("text\n", "  ", "{# note #}\n", " {#- c -#} ", "a{{ ' ' }}b"),
                             lambda: "{{" + self.pick("", "-") + f" {self.any(1)} " + self.pick("", "-") + "}}",
                             lambda: "{{ " + (self.pick(*self.names) if self.names else "s") + " }}",
                             lambda: "{{ " + self.pick("v", "v", "w2", "p", "q", "i", "k is defined", "loop is defined", "ns is defined") + " }}",
                             lambda: t("set " + self.pick("v", "w2", "s") + f" = {self.pick('1', 'v', repr('z'))}"))()

        def scoped(name, depth):
            self.names.append(name)
            body = self.blocks(depth)
            self.names.pop()
            return body

        def loop():
            head = self.pick(f"for i in {self.list(1)}", f"for i in {self.string(0)}", f"for i, j in {self.pick('d.items()', 'd|dictsort', self.list(1))}",
                             f"for i in {self.list(1)} if {self.pick('i', 'i is string', 'i != 1', 'loop is defined')}", f"for i in {self.any(1)}")
            inside = self.pick("{{ loop.index }}", "{{ loop.last }}{{ loop.length }}", "{{ loop.previtem }}", "{{ loop.nextitem is defined }}",
                               "{{ loop.cycle('p', 'q') }}", "{{ loop.changed(i) }}", "", "{{ loop.revindex0 }}{{ loop.depth }}", t("if loop.first") + t("continue") + t("endif"),
                               t("if loop.index > 1") + t("break") + t("endif"), t("set v = i") + "{{ v }}", t("set ns.q = ns.q ~ i"))
            other = t("else") + self.blocks(0) if r.random() < 0.3 else ""
            return t(head) + inside + scoped("i", d) + other + t("endfor")

        return self.pick(
            loop, loop,
            lambda: t(f"if {self.boolean(1)}") + self.blocks(d) + (t(f"elif {self.boolean(1)}") + self.blocks(d) if r.random() < 0.4 else "") + (t("else") + self.blocks(d) if r.random() < 0.5 else "") + t("endif"),
            lambda: t(f"set v = {self.any(2)}") + "{{ v }}" + self.blocks(d), lambda: t("set v") + self.blocks(d) + t("endset") + "[{{ v }}]",
            lambda: t("set v | upper") + self.blocks(d) + t("endset") + "{{ v|length }}", lambda: t(f"set v, w2 = {self.any(1)}, {self.any(1)}") + "{{ w2 }}{{ v }}",
            lambda: t(f"macro k(p, q={self.any(1)})") + scoped("p", d) + "{{ q }}" + t("endmacro") + "{{ k(" + self.pick("", "1", "1, 2", "q=3", "p=s, q=s", "1, 2, 3", "r=1") + ") }}",
            lambda: t("macro k()") + "<{{ caller(" + self.pick("", "1") + ") }}>" + t("endmacro") + t("call" + self.pick("", "(c)") + " k()") + scoped("c", d) + t("endcall"),
            lambda: t("filter " + self.pick("upper", "trim", "replace('a', 'b')", "indent(1)|length")) + self.blocks(d) + t("endfilter"),
            lambda: t(f"with v = {self.any(1)}, v2 = {self.any(1)}") + scoped("v", d) + t("endwith"),
            lambda: t("raw") + " {{ x }} {% y %}" + self.pick("", "\n") + t("endraw"),
            lambda: t("set ns = namespace(q=0)") + self.blocks(d) + t(f"set ns.q = {self.any(1)}") + "{{ ns.q }}")()

    def blocks(self, depth):
        return "".join(self.block(depth) for _ in range(self.rng.randrange(1, 3)))


HIDDEN = re.compile(r"<[\w. ]*(object|function|bound|built-in|class|iterator|Macro)|0x[0-9a-f]{6,}|\d{38,}|Undefined\(|_cls|LoopContext|<Namespace|\d+j\)")


def outcome(env, source):
    """The output, None for an error, or an exception of its own for what depends on the machine."""
    try:
        text = env.from_string(source).render(**json.loads(json.dumps(VARIABLES)))
        text.encode()
    except (RecursionError, MemoryError, UnicodeError):
        raise LookupError from None
    except Exception:
        return None
    if HIDDEN.search(text) or len(text) > 1500:
        raise LookupError
    return text


def main() -> None:
    warnings.simplefilter("ignore")  # of Python about what the compiled templates do
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2600)
    parser.add_argument("-o", required=True)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    env = environment()
    seen = set()
    rows = []
    errors = 0
    while len(rows) < args.count:
        maker = Maker(rng)
        if rng.random() < 0.25:
            source = maker.blocks(rng.randrange(1, 3))
        else:
            source = "{{ " + maker.any(rng.randrange(1, 4)) + " }}"
        if source in seen or len(source) > 300:
            continue
        seen.add(source)
        try:
            text = outcome(env, source)
        except LookupError:
            continue
        if text is None:
            if errors > len(rows) // 4:
                continue
            errors += 1
        rows.append([source, text])
    with open(args.o, "w", encoding="utf-8") as out:
        out.write(json.dumps(VARIABLES) + "\n")
        for row in rows:
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
