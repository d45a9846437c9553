// SPDX-License-Identifier: Apache-2.0
// Files of counted pre-tokens: escapes, order, round trips, damaged files, and that counts add up
// to the tokenizer of all the text.
#include "text/counts_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/thread_pool.h"
#include "file_error.h"
#include "hostile_text.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/bpe_trainer.h"
#include "text/document_cut.h"
#include "text/tokenizer_file.h"

using netcl::kSymbolsOfText;
using netcl::base::FormatError;
using netcl::base::LineReader;
using netcl::base::OutputFile;
using netcl::base::Rng;
using netcl::base::UsageError;
using netcl::base::write_file;
using netcl::tests::message_of;
using netcl::tests::replaced;
using netcl::tests::TempDir;
using netcl::text::append_escaped;
using netcl::text::append_unescaped;
using netcl::text::BpeTrainer;
using netcl::text::CountsHeader;
using netcl::text::CountsReader;
using netcl::text::CountsTotals;
using netcl::text::CountsWriter;
using netcl::text::TrainerOptions;

namespace {

using Words = std::map<std::string, uint64_t>;

std::string escaped(const std::string& bytes) {
  std::string out;
  append_escaped(bytes, out);
  return out;
}

std::string header_line(const CountsHeader& header) {
  return netcl::text::make_header_line(netcl::text::kCountsMagic, netcl::text::kCountsVersion,
                                       netcl::text::counts_header_json(header));
}

void write_counts(const std::string& path, const CountsHeader& header, const Words& words,
                  uint64_t bytes = 0, uint64_t documents = 0) {
  OutputFile out(path);
  CountsWriter writer([&](std::string_view text) { out.write(text); }, header_line(header));
  for (const auto& [word, count] : words) {
    writer.add(word, count);
  }
  writer.finish(bytes, documents);
  out.commit();
}

struct CountsContent {
  CountsHeader header;
  Words words;
  CountsTotals totals;
};

CountsContent read_counts(const std::string& path) {
  CountsContent content;
  LineReader lines(path);
  content.header = netcl::text::read_counts_header(lines);
  CountsReader counts(lines);
  while (counts.next()) {
    content.words[std::string(counts.word())] += counts.count();
  }
  content.totals = counts.totals();
  netcl::text::require_end(lines);
  return content;
}

std::string random_bytes(Rng& rng, uint64_t most) {
  // Near the borders of what is escaped as often as anywhere.
  constexpr std::string_view kBorders("\x00\x01\x09\x0A\x20\x21\x22\x7D\x7E\x7F\x80\xFF", 12);
  std::string bytes;
  for (uint64_t i = 0; i < 1 + rng.below(most); ++i) {
    bytes += rng.below(2) == 0 ? kBorders[rng.below(kBorders.size())]
                               : static_cast<char>(rng.below(256));
  }
  return bytes;
}

std::string hostile_text(Rng& rng, uint64_t symbol_count) {
  std::string text;
  for (uint64_t i = 0; i < symbol_count; ++i) {
    text += rng.below(30) == 0 ? "<s>" : kSymbolsOfText[rng.below(kSymbolsOfText.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("counts format: escapes are ASCII, come back, and sort as the bytes do") {
  Rng rng(3);
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(20256);
  for (int first = 0; first < 256; ++first) {
    pairs.emplace_back(escaped(std::string(1, static_cast<char>(first))),
                       std::string(1, static_cast<char>(first)));
  }
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = random_bytes(rng, 5);
    pairs.emplace_back(escaped(bytes), bytes);
  }
  for (const auto& [text, bytes] : pairs) {
    REQUIRE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; }));
    std::string back;
    REQUIRE(append_unescaped(text, back));
    REQUIRE(back == bytes);
  }
  std::sort(pairs.begin(), pairs.end());
  CHECK(std::is_sorted(pairs.begin(), pairs.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; }));
  // Whole lines too: a tab comes before everything that an escaped word may hold.
  CHECK(escaped(" the") == "!20the");
  CHECK(escaped("!~\"}") == "!21~7E\"}");
  CHECK(escaped("\xC3\xA9\n") == "~C3~A9!0A");
}

TEST_CASE("counts format: what the writer does not write is no escaped word") {
  for (const std::string text : {"!", "!2", "~", "~8", "!2g", "!0a", "!22", "!41", "!7E", "~7D",
                                 "~20", "a b", "a\tb", "\x7F", "\xC3\xA9", "a!", "ab~F"}) {
    std::string bytes;
    CAPTURE(text);
    CHECK_FALSE(append_unescaped(text, bytes));
  }
}

TEST_CASE("counts file: comes back as it was written") {
  const TempDir folder;
  const std::string path = folder.file("counts");
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    CountsHeader header;
    (round % 3 == 0 ? header.pattern_regex : header.pattern) =
        round % 3 == 0 ? "\\s+|\xC3\xA9\"\n" : "gpt2";
    header.add_prefix_space = round % 2 == 0;
    if (round % 4 == 0) {
      header.specials = {"<|a\n|>", "\xE4\xB8\xAD", "\""};
    }
    Words words;
    uint64_t pieces = 0;
    for (uint64_t i = 0; i < rng.below(200); ++i) {
      const uint64_t count = rng.below(3) == 0 ? rng.next() >> 9 : 1 + rng.below(9);
      pieces += count;
      words[random_bytes(rng, round == 7 ? 300000 : 6)] += count;
    }
    write_counts(path, header, words, rng.next() >> 1, rng.below(100));
    const CountsContent content = read_counts(path);
    REQUIRE(content.header == header);
    REQUIRE(content.words == words);
    REQUIRE(content.totals.pieces == pieces);
    REQUIRE(content.totals.words == words.size());
    const std::string text(netcl::base::FileBytes::open(path).view());
    REQUIRE(std::all_of(text.begin(), text.end(),
                        [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t' || c == '\n'; }));
    // As `LC_ALL=C sort` wants it.
    std::vector<std::string> lines;
    LineReader reader(path);
    while (reader.next()) {
      lines.emplace_back(reader.line());
    }
    REQUIRE(std::is_sorted(lines.begin(), lines.end()));
  }
}

TEST_CASE("counts file: the largest count and sum are held") {
  const TempDir folder;
  const std::string path = folder.file("counts");
  const uint64_t most = static_cast<uint64_t>(INT64_MAX);
  CountsHeader header;
  header.pattern = "none";
  write_counts(path, header, {{"a", most - 1}, {"b", 1}}, most, most);
  const CountsContent content = read_counts(path);
  CHECK(content.words == Words{{"a", most - 1}, {"b", 1}});
  CHECK(content.totals == CountsTotals{most, most, most, 2});
}

TEST_CASE("counts file: damaged files are refused with the place") {
  const std::string good =
      "!!netcl-counts 1 {\"pattern\":\"gpt2\",\"add_prefix_space\":false,\"special_tokens\":[]}\n"
      "!20the\t12\n"
      "low\t2\n"
      "~C3~A9\t1\n"
      "~~bytes\t60\n"
      "~~documents\t1\n"
      "~~pieces\t15\n"
      "~~words\t3\n";
  const TempDir folder;
  const std::string path = folder.file("c");
  const auto message = [&](const std::string& text) {
    write_file(path, text);
    return replaced(message_of<FormatError>([&] { read_counts(path); }) + "\n", path, "c");
  };
  write_file(path, good);
  CHECK(read_counts(path).words == Words{{" the", 12}, {"low", 2}, {"\xC3\xA9", 1}});

  struct Row {
    std::string from;
    std::string to;
    std::string wanted;
  };
  const std::vector<Row> rows = {
      {good, "", "c: is empty"},
      {good, "hello\n", "c:1: begins with 'hello', not with !!netcl-counts"},
      {good, "\x1F\x8B\x08 rest", "c: is gzip-compressed; use 'gzip -dc "},
      {"!!netcl-counts 1 ", "!!netcl-countsX 1 ", "c:1: begins with"},
      {"counts 1 ", "counts 2 ", "c:1: has version '2'; this program reads version 1"},
      {"counts 1 ", "counts  ", "c:1: has version ''"},
      {"{\"pattern\"", "[{\"pattern\"", "c:1"},
      {"counts 1 {", "counts 1 7 {", "c:1"},
      {"\"pattern\":\"gpt2\"", "\"pattern\":\"\"", "c:1: the pattern is empty"},
      {"\"pattern\":\"gpt2\",", "", "c:1: field 'pattern'"},
      {"\"pattern\":\"gpt2\"", "\"pattern\":2", "c:1: field 'pattern'"},
      {"\"pattern\":\"gpt2\"", "\"pattern\":\"gpt2\",\"pattern_regex\":\"x\"", "c:1: has both"},
      {"\"pattern\":\"gpt2\"", "\"pattern\":\"gpt2\",\"x\":1", "c:1: has options that this"},
      {"false", "0", "c:1: field 'add_prefix_space'"},
      {"[]", "[1]", "c:1: field 'special_tokens'"},
      {"[]", "{}", "c:1: field 'special_tokens'"},
      {"!20the\t12", "!20the 12", "c:2: '!20the 12' is not a word, a tab and a count"},
      {"!20the\t12", "\t12", "c:2: '' is an empty word"},
      {"!20the\t12", "", "c:2: '' is not a word"},
      {"!20the\t12", " the\t12", "c:2: ' the' is not an escaped word"},
      {"!20the\t12", "!20the\t12\r", "c:2: '12\\r' is not a count"},
      {"!20the\t12", "!20the\t012", "c:2: '012' is not a count"},
      {"!20the\t12", "!20the\t+12", "c:2: '+12' is not a count"},
      {"!20the\t12", "!20the\t-12", "c:2: '-12' is not a count"},
      {"!20the\t12", "!20the\t1e3", "c:2: '1e3' is not a count"},
      {"!20the\t12", "!20the\t", "c:2: '' is not a count"},
      {"!20the\t12", "!20the\t12\t", "c:2: '12\\t' is not a count"},
      {"!20the\t12", "!20the\t0", "c:2: the count '0' is out of range; allowed is 1 to"},
      {"!20the\t12", "!20the\t9223372036854775808", "c:2: the count '9223372036854775808' is out"},
      {"!20the\t12", "!20the\t99999999999999999999999", "c:2: the count '99999999999999999999999'"},
      {"!20the\t12", "!20the\t9223372036854775807", "c:3: the counts add up to more than 2^63"},
      {"low", "!20the", "c:3: '!20the' does not come after the word before it"},
      {"low", "!20thd", "c:3: '!20thd' does not come after"},
      {"low", "~C3~A9~A9", "c:4: '~C3~A9' does not come after"},
      {"~C3~A9", "~c3~a9", "c:4: '~c3~a9' is not an escaped word"},
      {"~~bytes\t60\n", "", "c:5: '~~documents' stands where ~~bytes should"},
      {"~~bytes", "~~byte", "c:5: '~~byte' stands where ~~bytes should"},
      {"~~bytes\t60", "~~bytes\t-1", "c:5: '-1' is not a count"},
      {"~~bytes\t60", "~~bytes\t9223372036854775808", "c:5: the count"},
      {"~~documents\t1\n", "", "c:6: '~~pieces' stands where ~~documents should"},
      {"~~pieces\t15", "~~pieces\t16", "c:7: states 16 pieces, but the lines above have 15"},
      {"~~words\t3", "~~words\t2", "c:8: states 2 words, but the lines above have 3"},
      {"low\t2\n", "", "c:6: states 15 pieces, but the lines above have 13"},
      {"~~words\t3\n", "", "c:7: ends without the line ~~words; the file is cut off"},
      {"~~words\t3\n", "~~words\t3", "c:8: ends in the middle of a line"},
      {"~~words\t3\n", "~~words\t3\nlow\t2\n", "c:9: 'low\\t2' stands behind the end"},
      {"~~words\t3\n", "~~words\t3\n\n", "c:9: '' stands behind the end"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.from, row.to);
    CHECK_THAT(message(replaced(good, row.from, row.to)), Catch::StartsWith(row.wanted));
  }
  for (size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(message(good.substr(0, size)) != "(nothing thrown)\n");
  }
}

TEST_CASE("counts format: headers that differ are told apart in words") {
  CountsHeader one;
  one.pattern = "gpt2";
  CHECK(describe_difference(one, one).empty());
  CountsHeader other = one;
  other.pattern = "";
  other.pattern_regex = ".";
  CHECK(describe_difference(other, one) == "the pattern is the regex '.', not 'gpt2'");
  other = one;
  other.add_prefix_space = true;
  CHECK(describe_difference(one, other) == "the prefix space is false, not true");
  other = one;
  other.specials = {"<s>", "</s>"};
  CHECK(describe_difference(other, one) == "the special tokens are '<s>', '</s>', not none");
}

TEST_CASE("counts format: options make a header and the header the options") {
  TrainerOptions options;
  options.pattern_regex = "\\w+";
  options.specials = {"<s>"};
  options.vocab_size = 777;
  TrainerOptions again;
  again.vocab_size = 777;
  netcl::text::apply_counts_header(netcl::text::counts_header_of(options), again);
  CHECK(again.pattern.empty());
  CHECK(again.pattern_regex == options.pattern_regex);
  CHECK(again.specials == options.specials);
  CHECK(again.vocab_size == 777);
  options.pattern_regex = "\xFF";
  CHECK_THROWS_AS(netcl::text::counts_header_json(netcl::text::counts_header_of(options)),
                  UsageError);
}

TEST_CASE("counts file: counts of parts add up to the tokenizer of the whole") {
  const TempDir folder;
  Rng rng(23);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> documents;
    documents.reserve(60);
    for (int i = 0; i < 60; ++i) {
      documents.push_back(hostile_text(rng, rng.below(60)));
    }
    TrainerOptions options;
    options.vocab_size = 258 + rng.below(120);
    options.pattern = round % 3 == 0 ? "gpt2" : round % 3 == 1 ? "cl100k" : "none";
    options.specials = {"<s>", "x\n"};
    options.add_prefix_space = options.pattern != "cl100k" && rng.below(2) == 0;
    options.max_token_length = rng.below(2) == 0 ? 0 : 2 + rng.below(6);
    BpeTrainer whole(options);
    std::vector<BpeTrainer> parts;
    parts.reserve(4);
    for (int i = 0; i < 4; ++i) {
      parts.emplace_back(options);
    }
    for (const std::string& document : documents) {
      whole.add_document(document);
      parts[rng.below(parts.size())].add_document(document);
    }
    BpeTrainer sum(options);
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string path = folder.file(std::to_string(i));
      Words words;
      parts[i].for_each_pre_token([&](std::string_view word, uint64_t count) {
        REQUIRE((words.empty() || words.rbegin()->first < word));
        words.emplace(word, count);
      });
      const CountsTotals totals = parts[i].totals();
      write_counts(path, netcl::text::counts_header_of(options), words, totals.bytes,
                   totals.documents);
      const CountsContent content = read_counts(path);
      CHECK(content.totals == totals);
      for (const auto& [word, count] : content.words) {
        sum.add_pre_token(word, count);
      }
      sum.add_counted_corpus(content.totals.documents, content.totals.bytes);
    }
    CHECK(sum.totals() == whole.totals());
    CHECK(sum.pre_token_count() == whole.pre_token_count());
    REQUIRE(netcl::text::to_tokenizer_json(sum.train().tokenizer) ==
            netcl::text::to_tokenizer_json(whole.train().tokenizer));
  }
}

TEST_CASE("bpe trainer: sizes of counted corpora are added with care") {
  BpeTrainer trainer{TrainerOptions()};
  const uint64_t most = static_cast<uint64_t>(INT64_MAX);
  trainer.add_document("abc");
  trainer.add_counted_corpus(5, most - 3);
  CHECK(trainer.totals().bytes == most);
  CHECK(trainer.totals().documents == 6);
  CHECK_THROWS_AS(trainer.add_counted_corpus(0, 1), UsageError);
  CHECK_THROWS_AS(trainer.add_counted_corpus(most, 0), UsageError);
}

TEST_CASE("bpe trainer: a text given in parts is one document") {
  Rng rng(31);
  std::string text;
  while (text.size() < 300000) {
    text += "word" + std::to_string(rng.below(500)) + (rng.below(4) == 0 ? "\n" : " ");
  }
  TrainerOptions options;
  options.vocab_size = 400;
  BpeTrainer whole(options);
  REQUIRE(whole.may_cut_texts());
  whole.add_document(text);
  netcl::base::ThreadPool pool(2);
  BpeTrainer parts(options);
  std::string_view rest = text;
  for (bool begins = true; !rest.empty(); begins = false) {
    const size_t end = netcl::text::find_safe_cut(rest, std::min<size_t>(rest.size(), 70000));
    const netcl::text::TrainerDocument part{.text = rest.substr(0, end), .begins = begins};
    parts.add_documents({&part, 1}, pool);
    rest.remove_prefix(end);
  }
  CHECK(parts.totals() == whole.totals());
  CHECK(parts.totals().documents == 1);
  options.pattern = "none";
  CHECK_FALSE(BpeTrainer(options).may_cut_texts());
}
