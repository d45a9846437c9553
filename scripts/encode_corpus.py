#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the texts of encode_corpus.sh from unpacked packages.

usage: encode_corpus.py UNPACKED_DIR OUT_DIR CORPUS_TOKENS.json [BIG_PACKAGES.txt]

en.txt, code.txt, multi.txt: the documents of ../shared/corpora/make_corpus.sh by kind, in the order of its
sources. All documents in the order of their SHA-256 are that corpus, whose hash CORPUS_TOKENS.json records; a
difference is a warning (other package versions), not an error. cjk.txt: lines with Chinese or Japanese in them,
each line of under 40 characters once. log.txt: made up, drawn by a linear congruential generator.
big.txt: the HTML pages of the packages that BIG_PACKAGES.txt lists, as text.
Prints size and sha256 of each file.
"""
import gzip
import hashlib
import html
import json
import os
import pathlib
import re
import sys

DOCUMENT_BYTES = 65536
CJK_BYTES = 30_000_000
LOG_BYTES = 20_000_000
BIG_BYTES = 1_000_000_000
SHORT_LINE = 40

HANDBOOK = "debian-handbook/usr/share/doc/debian-handbook/html/"
INSTALL = "installation-guide-amd64/usr/share/doc/installation-guide-amd64/"
GNOME = "gnome-user-docs/usr/share/help/"
LARGE_HANDBOOKS = ("ja-JP", "zh-CN", "zh-TW", "ko-KR", "ru-RU", "ar-MA", "fa-IR", "el-GR")

TAG = re.compile(r"<[^>]+>")
UNSEEN = re.compile(r"(?s)<(script|style|head).*?</\1>")
CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def plain(text: str) -> str:
    return text


def from_html(text: str) -> str:
    text = html.unescape(TAG.sub("", UNSEEN.sub("", text)))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text))


def from_roff(text: str) -> str:
    text = re.sub(r'(?m)^\.\\?"[^\n]*\n', "", text)
    return re.sub(r"\\f[BIRP]", "", text).replace("\\-", "-")


def files_under(folder: pathlib.Path, suffixes: tuple[str, ...]) -> list[str]:
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith(suffixes) and os.path.isfile(path) and not os.path.islink(path):
                found.append(path)
    return sorted(found, key=os.fsencode)


def read_text(path: str) -> str | None:
    """The text of a file, or None where it is no UTF-8 (gcide: without its few bytes that are not)."""
    try:
        opened = gzip.open if path.endswith((".gz", ".dz")) else open
        with opened(path, "rb") as file:
            data = file.read()
    except (OSError, EOFError):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="ignore") if "gcide" in path else None


def sources(unpacked: pathlib.Path) -> list[tuple]:
    """(kind, folder, file name endings, conversion, most bytes), in the order of make_corpus.sh."""
    million = 1_000_000
    rows: list[tuple] = [
        ("en", HANDBOOK + "en-US", (".html",), from_html, 3 * million),
        ("en", INSTALL + "en", (".html",), from_html, 2 * million),
        ("en", GNOME + "C", (".page",), from_html, 3 * million),
        ("en", "dict-gcide", (".dict.dz",), plain, 7 * million),
        ("en", "dict-wn", (".dict.dz",), plain, 7 * million),
        ("en", "dict-jargon", (".dict.dz",), plain, 2 * million),
        ("en", "dict-foldoc", (".dict.dz",), plain, 4 * million),
        ("en", "manpages", (".gz",), from_roff, 4 * million),
        ("en", "fortunes", ("",), plain, 2 * million),
        ("code", "libboost1.74-dev/usr/include/boost", (".hpp", ".h", ".ipp"), plain, 9 * million),
        ("code", "golang-1.19-src", (".go",), plain, 7 * million),
        ("code", "rust-src", (".rs",), plain, 6 * million),
        ("code", "python3-sympy", (".py",), plain, 6 * million),
        ("code", "node-typescript", (".js", ".ts"), plain, 5 * million),
        ("code", "libjs-jquery-ui", (".js", ".css"), plain, 2 * million),
    ]
    for name in sorted(os.listdir(unpacked / HANDBOOK)):
        if name != "en-US":
            rows.append(("multi", HANDBOOK + name, (".html",), from_html,
                         900_000 if name in LARGE_HANDBOOKS else 450_000))
    for name in sorted(os.listdir(unpacked / INSTALL)):
        if name != "en" and (unpacked / INSTALL / name).is_dir():
            rows.append(("multi", INSTALL + name, (".html",), from_html, 300_000))
    for name in sorted(os.listdir(unpacked / GNOME)):
        if name != "C":
            rows.append(("multi", GNOME + name, (".page",), from_html, 200_000))
    for name in ("ja", "zh", "ru", "de", "fr", "es", "uk", "pl", "vi", "el", "tr"):
        rows.append(("multi", "manpages-" + name, (".gz",), from_roff, 600_000))
    for name in ("debian-reference-ja", "debian-reference-zh-cn", "debian-reference-zh-tw", "debian-faq-ko"):
        rows.append(("multi", name, (".html", ".txt.gz"), from_html, 700_000))
    for name in ("ara-eng", "eng-ara", "eng-hin"):
        rows.append(("multi", "dict-freedict-" + name, (".dict.dz",), plain, million))
    return rows


def cut_documents(data: bytes) -> list[bytes]:
    """Parts of at most 64 kB, cut at a line end where there is one, never inside a character."""
    parts, start = [], 0
    while start < len(data):
        end = min(len(data), start + DOCUMENT_BYTES)
        if end < len(data):
            line_end = data.rfind(b"\n", start, end)
            end = line_end + 1 if line_end > start else end
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end += 1
        parts.append(data[start:end])
        start = end
    return parts


def documents_of(unpacked: pathlib.Path) -> dict[str, list[bytes]]:
    kinds: dict[str, list[bytes]] = {"en": [], "code": [], "multi": []}
    for kind, folder, suffixes, convert, most in sources(unpacked):
        used = 0
        for path in files_under(unpacked / folder, suffixes):
            text = read_text(path)
            if text is None or "\0" in text:
                continue
            text = convert(text.replace("\r\n", "\n")).strip("\n") + "\n\n"
            if len(text) < 40:
                continue
            data = text.encode()
            if used + len(data) > most:
                data = data[:most - used].decode(errors="ignore").encode()
                data = data[:data.rfind(b"\n") + 1]
            used += len(data)
            kinds[kind] += cut_documents(data)
            if used >= most - 64:
                break
    return kinds


def chinese_and_japanese(unpacked: pathlib.Path) -> bytes:
    markup = (".html", ".page", ".txt.gz")
    rows = [("libreoffice-help-" + name, markup, from_html) for name in ("ja", "zh-cn", "zh-tw")]
    rows += [(HANDBOOK + name, markup, from_html) for name in ("ja-JP", "zh-CN", "zh-TW")]
    rows += [(INSTALL + name, markup, from_html) for name in ("ja", "zh_CN")]
    rows += [(GNOME + name, markup, from_html) for name in ("ja", "zh_CN")]
    rows += [("debian-reference-" + name, markup, from_html) for name in ("ja", "zh-cn", "zh-tw")]
    rows += [("manpages-" + name, (".gz",), from_roff) for name in ("ja", "zh")]
    rows += [("fortunes-zh/usr/share/games/fortunes", ("",), plain), ("developers-reference-ja", markup, from_html),
             ("lilypond-doc-html-ja", markup, from_html)]
    seen: set[str] = set()
    lines: list[bytes] = []
    for folder, suffixes, convert in rows:
        for path in files_under(unpacked / folder, suffixes):
            text = None if "changelog" in path else read_text(path)
            for line in convert(text or "").split("\n"):
                if not CJK.search(line) or "\0" in line or (len(line) < SHORT_LINE and line in seen):
                    continue
                if len(line) < SHORT_LINE:
                    seen.add(line)
                lines.append(line.encode() + b"\n")
    data = b"".join(lines)[:CJK_BYTES]
    return data[:data.rfind(b"\n") + 1]


def log() -> bytes:
    """Indented, column-aligned lines with runs of blanks, tabs and empty lines."""
    state = 1

    def draw(limit: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % limit

    levels = ("DEBUG", "INFO", "WARN", "ERROR")
    names = ("net.http", "storage", "scheduler", "auth", "cache.piece", "worker", "main")
    words = ("request", "finished", "retry", "timeout", "opened", "closed", "bytes", "queue", "id", "peer", "slow")
    out: list[bytes] = []
    size = 0
    while size < LOG_BYTES:
        line = (f"2026-{1 + draw(12):02}-{1 + draw(28):02}T{draw(24):02}:{draw(60):02}:{draw(60):02}.{draw(1000):03}Z"
                f"  {levels[draw(4)]:<8}{names[draw(7)]:<20}{'    ' * draw(8)}")
        line += "  ".join(f"{words[draw(11)]:<12}={draw(10 ** (1 + draw(6))):>10}" for _ in range(1 + draw(4)))
        line += ("", " ", "\t", "    ", "\t\t")[draw(5)] + ("\n", "\n", "\n", "\n\n", "\r\n", "\n\n\n")[draw(6)]
        if draw(6) == 0:
            line += "".join("\t" * (1 + draw(4)) + " " * draw(9) + f"at {names[draw(7)]}:{draw(3000)}\n"
                            for _ in range(1 + draw(6)))
        out.append(line.encode())
        size += len(out[-1])
    return b"".join(out)[:LOG_BYTES]


def write_big(unpacked: pathlib.Path, packages: pathlib.Path, path: pathlib.Path) -> None:
    digest, size = hashlib.sha256(), 0
    names = [line.split()[0] for line in packages.read_text().splitlines() if line and not line.startswith("#")]
    pages = (page for name in names for page in files_under(unpacked / name, (".html",))
             if "/translations/" not in page)  # of the kernel's documentation
    with open(path, "wb") as file:
        for page in pages:
            data = from_html(read_text(page) or "").strip("\n").encode() + b"\n\n"
            if size + len(data) > BIG_BYTES:
                break
            file.write(data)
            digest.update(data)
            size += len(data)
    print(f"{path.name} {size} bytes sha256 {digest.hexdigest()}")


def main() -> int:
    unpacked, out, recorded, *big = (pathlib.Path(argument) for argument in sys.argv[1:])
    kinds = documents_of(unpacked)
    whole = hashlib.sha256()
    for document in sorted((d for part in kinds.values() for d in part), key=lambda d: hashlib.sha256(d).digest()):
        whole.update(document)
    if whole.hexdigest() == json.loads(recorded.read_text())["corpus_sha256"]:
        print("en + code + multi are the recorded corpus")
    else:
        print("encode_corpus: warning: en + code + multi differ from the recorded corpus (other package versions)",
              file=sys.stderr)
    texts = {name: b"".join(part) for name, part in kinds.items()}
    texts |= {"cjk": chinese_and_japanese(unpacked), "log": log()}
    for name, data in texts.items():
        (out / (name + ".txt")).write_bytes(data)
        print(f"{name}.txt {len(data)} bytes sha256 {hashlib.sha256(data).hexdigest()}")
    if big:
        write_big(unpacked, big[0], out / "big.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
