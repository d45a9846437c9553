// SPDX-License-Identifier: Apache-2.0
// Dumps of training runs: wherever a dump ends, going on from it gives the result of the whole run.
#include "text/train_dump.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/line_reader.h"
#include "base/rng.h"
#include "file_error.h"
#include "support/catch.h"
#include "support/temp_dir.h"
#include "text/counts_file.h"
#include "text/tokenizer_file.h"

using netcl::base::FormatError;
using netcl::base::LineReader;
using netcl::base::Rng;
using netcl::base::write_file;
using netcl::tests::message_of;
using netcl::tests::replaced;
using netcl::tests::TempDir;
using netcl::text::BpeTrainer;
using netcl::text::ByteOrder;
using netcl::text::CountsReader;
using netcl::text::DumpedMerges;
using netcl::text::MergeLog;
using netcl::text::SpecialPlace;
using netcl::text::to_tokenizer_json;
using netcl::text::TrainedMerge;
using netcl::text::TrainerOptions;

namespace {

using TrainedMerges = std::vector<TrainedMerge>;

// Options and counts, as a dump begins.
std::string dump_head(const BpeTrainer& trainer, const TrainerOptions& options) {
  std::string out;
  netcl::text::CountsWriter writer(
      [&](std::string_view text) { out += text; },
      netcl::text::make_header_line(netcl::text::kDumpMagic, netcl::text::kDumpVersion,
                                    netcl::text::trainer_options_json(options)));
  trainer.for_each_pre_token(
      [&](std::string_view word, uint64_t count) { writer.add(word, count); });
  writer.finish(trainer.totals().bytes, trainer.totals().documents);
  return out;
}

struct Dump {
  TrainerOptions options;
  BpeTrainer trainer{TrainerOptions()};
  DumpedMerges dumped;
};

Dump read_dump(const std::string& path) {
  LineReader lines(path);
  Dump dump;
  dump.options = netcl::text::read_dump_options(lines);
  dump.trainer = BpeTrainer(dump.options);
  CountsReader counts(lines);
  while (counts.next()) {
    dump.trainer.add_pre_token(counts.word(), counts.count());
  }
  dump.trainer.add_counted_corpus(counts.totals().documents, counts.totals().bytes);
  dump.dumped = netcl::text::read_dumped_merges(lines);
  return dump;
}

// A line of a text, by its number from 1.
std::string_view line_of_text(std::string_view text, uint64_t number) {
  for (; number > 1; --number) {
    text.remove_prefix(text.find('\n') + 1);
  }
  return text.substr(0, text.find('\n'));
}

std::string random_text(Rng& rng, uint64_t words) {
  std::string text;
  for (uint64_t i = 0; i < words; ++i) {
    for (uint64_t k = 0; k < 1 + rng.below(6); ++k) {
      text += static_cast<char>('a' + rng.below(4));
    }
    text += ' ';
  }
  return text;
}

}  // namespace

TEST_CASE("train dump: options come back") {
  TrainerOptions options;
  options.vocab_size = 777;
  options.pattern_regex = "\\w+|\xC3\xA9";
  options.specials = {"<s>"};
  options.special_place = SpecialPlace::kLast;
  options.min_frequency = UINT64_MAX;
  options.max_token_length = 9;
  options.byte_order = ByteOrder::kRaw;
  const auto json = netcl::text::trainer_options_json(options);
  const TrainerOptions again = netcl::text::parse_trainer_options(json, "x");
  CHECK(netcl::text::trainer_options_json(again) == json);
  CHECK(again.vocab_size == 777);
  CHECK(again.min_frequency == UINT64_MAX);
  CHECK(again.special_place == SpecialPlace::kLast);
  CHECK(again.byte_order == ByteOrder::kRaw);
}

TEST_CASE("train dump: from wherever it ends, going on gives the whole run") {
  const TempDir folder;
  const std::string path = folder.file("dump");
  Rng rng(3);
  for (int round = 0; round < 12; ++round) {
    TrainerOptions options;
    options.pattern = round % 2 == 0 ? "gpt2" : "none";
    options.specials =
        round % 3 == 0 ? std::vector<std::string>{"<s>"} : std::vector<std::string>();
    options.vocab_size = 256 + options.specials.size() + rng.below(60);
    options.special_place = round % 2 == 0 ? SpecialPlace::kFirst : SpecialPlace::kLast;
    options.byte_order = round % 4 < 2 ? ByteOrder::kGpt2 : ByteOrder::kRaw;
    options.max_token_length = round % 5 == 0 ? 4 : 0;
    BpeTrainer trainer(options);
    trainer.add_document(random_text(rng, 20 + rng.below(80)));
    TrainedMerges merges;
    const MergeLog log{{}, {}, [&](const TrainedMerge& merge) { merges.push_back(merge); }};
    const std::string whole = to_tokenizer_json(trainer.train({}, log).tokenizer);
    REQUIRE(to_tokenizer_json(trainer.train().tokenizer) == whole);

    std::string text = dump_head(trainer, options);
    const size_t head = text.size();
    const uint64_t every = 1 + rng.below(9);
    for (size_t done = 0; done < merges.size();) {
      const size_t next = std::min(done + every, merges.size());
      netcl::text::append_merge_batch({merges.begin() + static_cast<ptrdiff_t>(done),
                                       merges.begin() + static_cast<ptrdiff_t>(next)},
                                      next, text);
      done = next;
    }
    for (size_t size = head; size <= text.size(); size += 1 + rng.below(5)) {
      write_file(path, text.substr(0, size));
      const Dump dump = read_dump(path);
      const TrainedMerges& known = dump.dumped.merges;
      REQUIRE(dump.dumped.end <= size);
      REQUIRE(size - dump.dumped.end < 40 * (every + 1));
      REQUIRE(known.size() <= merges.size());
      REQUIRE(std::equal(known.begin(), known.end(), merges.begin()));
      for (size_t i = 0; i < known.size(); ++i) {
        CHECK(line_of_text(text, dump.dumped.line_of(i))
                  .starts_with(std::to_string(known[i].left) + " " +
                               std::to_string(known[i].right) + "\t"));
      }
      TrainedMerges more = known;
      const MergeLog go_on{known, [&](size_t) { return path; },
                           [&](const TrainedMerge& merge) { more.push_back(merge); }};
      REQUIRE(to_tokenizer_json(dump.trainer.train({}, go_on).tokenizer) == whole);
      REQUIRE(more == merges);
    }
  }
}

TEST_CASE("train dump: merges end where a crash left zeros, whatever follows them") {
  TrainerOptions options;
  options.pattern = "gpt2";
  BpeTrainer trainer(options);
  trainer.add_document("abab abab");
  std::string text = dump_head(trainer, options);
  std::vector<size_t> ends = {text.size()};
  const TrainedMerges merges = {{64, 65, 4}, {256, 256, 2}, {220, 257, 1}};
  for (size_t i = 0; i < merges.size(); ++i) {
    netcl::text::append_merge_batch({merges[i]}, i + 1, text);
    ends.push_back(text.size());
  }
  const TempDir folder;
  const std::string path = folder.file("dump");
  for (size_t at = ends[0]; at < text.size(); ++at) {
    for (const size_t zeros : {size_t{1}, size_t{20}, text.size()}) {
      std::string torn = text;
      torn.replace(at, std::min(zeros, text.size() - at), std::min(zeros, text.size() - at), '\0');
      write_file(path, torn);
      const Dump dump = read_dump(path);
      const size_t whole =
          static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin() - 1);
      CAPTURE(at, zeros);
      CHECK(dump.dumped.end == ends[whole]);
      CHECK(dump.dumped.merges == TrainedMerges(merges.begin(), merges.begin() + whole));
    }
  }
}

TEST_CASE("train dump: a vocabulary of another size is that of a run from the beginning") {
  Rng rng(7);
  TrainerOptions options;
  options.vocab_size = 300;
  BpeTrainer trainer(options);
  const std::string text = random_text(rng, 300);
  trainer.add_document(text);
  TrainedMerges merges;
  trainer.train({}, {{}, {}, [&](const TrainedMerge& merge) { merges.push_back(merge); }});
  REQUIRE(merges.size() == 44);
  for (const uint64_t size : {256, 270, 330}) {
    options.vocab_size = size;
    BpeTrainer other(options);
    other.add_document(text);
    CHECK(to_tokenizer_json(other.train({}, {merges, {}, {}}).tokenizer) ==
          to_tokenizer_json(other.train().tokenizer));
  }
}

TEST_CASE("train dump: merges that are not those of the counts are refused") {
  TrainerOptions options;
  options.vocab_size = 258;
  BpeTrainer trainer(options);
  trainer.add_document("abab abab cd");
  TrainedMerges merges;
  trainer.train({}, {{}, {}, [&](const TrainedMerge& merge) { merges.push_back(merge); }});
  REQUIRE(merges.size() == 2);
  for (TrainedMerges wrong : {TrainedMerges{{merges[1]}}, TrainedMerges{merges[0], merges[0]}}) {
    const auto where = [](size_t index) { return "dump:" + std::to_string(100 + index); };
    const std::string number = std::to_string(wrong.size());
    CHECK_THROWS_WITH(
        trainer.train({}, {wrong, where, {}}),
        Catch::StartsWith("dump:" + std::to_string(99 + wrong.size()) + ": merge " + number));
  }
  merges[1].count += 1;
  CHECK_THROWS_AS(trainer.train({}, {merges, {}, {}}), FormatError);
}

TEST_CASE("train dump: damaged dumps are refused with the place") {
  TrainerOptions options;
  options.pattern = "gpt2";
  BpeTrainer trainer(options);
  trainer.add_document("abab");
  std::string good = dump_head(trainer, options);
  netcl::text::append_merge_batch({{64, 65, 2}, {256, 256, 1}}, 2, good);
  const TempDir folder;
  const std::string path = folder.file("d");
  const auto message = [&](const std::string& text) {
    write_file(path, text);
    return replaced(message_of<FormatError>([&] { read_dump(path); }) + "\n", path, "d");
  };
  write_file(path, good);
  CHECK(read_dump(path).dumped.merges.size() == 2);
  CHECK(read_dump(path).dumped.end == good.size());
  struct Row {
    std::string from;
    std::string to;
    std::string wanted;
  };
  const std::vector<Row> rows = {
      {good, "", "d: is empty"},
      {"netcl-dump", "netcl-counts", "d:1: begins with"},
      {"dump 1 ", "dump 7 ", "d:1: has version '7'"},
      {"\"vocab_size\":32000", "\"vocab_size\":\"x\"", "d:1: field 'vocab_size'"},
      {"\"vocab_size\":32000", "\"vocab_size\":-1", "d:1: field 'vocab_size'"},
      {"\"vocab_size\":32000", "\"vocab_size\":1,\"x\":2", "d:1: has options that this"},
      {"\"min_frequency\":1,", "", "d:1: field 'min_frequency'"},
      {"\"first\"", "\"middle\"", "d:1: field 'special_place': 'middle' is neither first nor last"},
      {"\"byte_order\":\"gpt2\"", "\"byte_order\":\"\"", "d:1: field 'byte_order'"},
      {"abab\t1\n", "abab\t2\n", "d:5: states 1 pieces"},
      {"64 65\t2", "64 65 2", "d:7: '64 65 2' is not a merge, a tab and a count"},
      {"64 65\t2", "64\t2", "d:7: '' is not a count"},
      {"64 65\t2", "64 65\t2x", "d:7: '2x' is not a count"},
      {"64 65\t2", "64 256\t2", "d:7: '64 256' names a token that is not there yet"},
      {"256 256\t1", "257 256\t1", "d:8: '257 256' names a token"},
      {"256 256\t1\n", "", "d:8: states 2 merges, but the lines above have 1"},
      {"~~merges\t2", "~~merges\t3", "d:9: states 3 merges"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.from, row.to);
    CHECK_THAT(message(replaced(good, row.from, row.to)), Catch::StartsWith(row.wanted));
  }
}
