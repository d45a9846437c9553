// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "core/safetensors_file.h"
#include "support/catch.h"
#include "support/temp_dir.h"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using netcl::base::FormatError;
using netcl::base::IoError;
using netcl::base::UsageError;
using netcl::core::DType;
using netcl::core::HostTensor;
using netcl::core::load_tensor;
using netcl::core::parse_tensor_spec;
using netcl::core::save_tensor;
using netcl::core::Shape;
using netcl::core::TensorFormat;

TEST_CASE("tensor file: arguments come apart") {
  const auto same = [](const std::string& argument, const std::string& path, TensorFormat format,
                       const std::string& name) {
    const auto spec = parse_tensor_spec(argument);
    CAPTURE(argument);
    CHECK(spec.path == path);
    CHECK(spec.format == format);
    CHECK(spec.name == name);
  };
  same("-", "-", TensorFormat::kNpy, "");
  same("a.npy", "a.npy", TensorFormat::kNpy, "");
  same("d.json/a.npy", "d.json/a.npy", TensorFormat::kNpy, "");
  same("x.json", "x.json", TensorFormat::kJson, "");
  same("A.Npy", "A.Npy", TensorFormat::kNpy, "");
  same("x.JSON", "x.JSON", TensorFormat::kJson, "");
  same("W.SafeTensors:Q", "W.SafeTensors", TensorFormat::kSafetensors, "Q");
  same("w.safetensors", "w.safetensors", TensorFormat::kSafetensors, "");
  same("w.safetensors:q", "w.safetensors", TensorFormat::kSafetensors, "q");
  same("d/w.safetensors:a.b:c.npy", "d/w.safetensors", TensorFormat::kSafetensors, "a.b:c.npy");
  same("w.safetensors:v.safetensors:x", "w.safetensors", TensorFormat::kSafetensors,
       "v.safetensors:x");
}

TEST_CASE("tensor file: other arguments are a usage error that lists what is allowed") {
  for (const std::string argument : {"", "a", "a.npz", "a.npy.gz", "a.npy:x", ".npy", ".json",
                                     "a.bin", "w.safetensors:", ".safetensors:x", "a.pt"}) {
    CAPTURE(argument);
    CHECK_THROWS_AS(parse_tensor_spec(argument), UsageError);
    CHECK_THROWS_WITH(load_tensor(argument),
                      StartsWith(netcl::base::quote(argument) + ": ") &&
                          Contains("FILE.npy, FILE.safetensors:NAME, FILE.json and -"));
    CHECK_THROWS_AS(save_tensor(argument, HostTensor()), UsageError);
  }
}

TEST_CASE("tensor file: every format round trips by its extension") {
  const netcl::tests::TempDir folder;
  const std::vector<float> values = {1.5F, -2, 0.1F, 4, 5, 6};
  const auto tensor = HostTensor::from_floats(Shape{2, 3}, values);
  for (const std::string name : {"a.npy", "a.json", "a.safetensors:x.y", "a.safetensors:x y"}) {
    const std::string argument = folder.file(name);
    CAPTURE(argument);
    save_tensor(argument, tensor);
    const HostTensor read = load_tensor(argument);
    CHECK(read.shape() == tensor.shape());
    CHECK(read.dtype() == DType::kF32);
    CHECK(read.to_floats() == values);
  }
  // The name may be left out where there is one tensor only.
  CHECK(load_tensor(folder.file("a.safetensors")).to_floats() == values);
  CHECK_THROWS_WITH(load_tensor(folder.file("a.safetensors:q")), Contains("no tensor 'q'"));
}

TEST_CASE("tensor file: a safetensors file of several tensors needs a name") {
  const netcl::tests::TempDir folder;
  const std::string path = folder.file("w.safetensors");
  std::vector<netcl::core::NamedTensor> tensors;
  for (int i = 0; i < 12; ++i) {
    tensors.push_back(
        {std::string("t").append(std::to_string(10 + i)), HostTensor(DType::kF32, Shape{1})});
  }
  netcl::core::write_safetensors(path, tensors);
  CHECK_THROWS_AS(load_tensor(path), FormatError);
  CHECK_THROWS_WITH(load_tensor(path),
                    StartsWith(path + ": the file has 12 tensors; name one as " + path) &&
                        Contains("'t10'") && Contains("'t19', ...") && !Contains("'t20'"));
  CHECK(load_tensor(path + ":t21").count() == 1);
  netcl::core::write_safetensors(path, {});
  CHECK_THROWS_WITH(load_tensor(path), Contains("has 0 tensors"));
}

TEST_CASE("tensor file: refused output writes nothing") {
  const netcl::tests::TempDir folder;
  const HostTensor tensor(DType::kBF16, Shape{2});
  CHECK_THROWS_AS(save_tensor(folder.file("a.npy"), tensor), UsageError);
  CHECK_THROWS_WITH(save_tensor(folder.file("a.safetensors"), tensor), Contains("needs a name"));
  CHECK_THROWS_AS(save_tensor(folder.file("none/a.json"), tensor), IoError);
  CHECK(std::filesystem::is_empty(folder.path()));
  save_tensor(folder.file("a.safetensors:x"), tensor);
  CHECK(load_tensor(folder.file("a.safetensors:x")).dtype() == DType::kBF16);
}

TEST_CASE("tensor file: a missing or damaged file names itself") {
  const netcl::tests::TempDir folder;
  for (const std::string name : {"a.npy", "a.json", "a.safetensors"}) {
    const std::string path = folder.file(name);
    CHECK_THROWS_AS(load_tensor(path), IoError);
    netcl::base::write_file(path, "junk");
    CHECK_THROWS_AS(load_tensor(path), FormatError);
    CHECK_THROWS_WITH(load_tensor(path), StartsWith(path + "@"));
  }
}
