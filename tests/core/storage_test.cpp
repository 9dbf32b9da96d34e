// Storage: alignment, the pool's accounts and reuse, running out of memory.
#include "core/storage.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "core/scope.h"

using namespace gradzoo;

TEST_CASE("Storage: every size is aligned to 64 bytes and can be written from end to end") {
  for (const std::size_t bytes :
       {0,   1,   63,  64,  65,  79,   80,   81,   96,      97,
        127, 128, 129, 160, 161, 1000, 4096, 4097, 1 << 20, (1 << 20) + 1}) {
    const Storage storage(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(storage.data()) % 64 == 0);
    CHECK(storage.bytes() == bytes);
    std::fill_n(static_cast<unsigned char*>(storage.data()), bytes, static_cast<unsigned char>(7));
  }
}

TEST_CASE("Storage: blocks that live at the same time do not overlap") {
  std::vector<std::unique_ptr<Storage>> blocks;
  for (std::size_t i = 0; i < 200; ++i) {
    blocks.push_back(std::make_unique<Storage>(1 + 37 * i));
    std::fill_n(static_cast<unsigned char*>(blocks[i]->data()), 1 + 37 * i,
                static_cast<unsigned char>(i));
    if (i % 3 == 1) blocks[i - 1].reset();  // leaves room for reuse
  }
  for (std::size_t i = 0; i < 200; ++i) {
    if (blocks[i] == nullptr) continue;
    const auto* data = static_cast<unsigned char*>(blocks[i]->data());
    CHECK(std::count(data, data + blocks[i]->bytes(), static_cast<unsigned char>(i)) ==
          static_cast<std::ptrdiff_t>(blocks[i]->bytes()));
  }
}

TEST_CASE("memory: live, peak and cached bytes") {
  memory::trim();
  CHECK(memory::cached_bytes() == 0);
  const std::size_t before = memory::live_bytes();
  memory::reset_peak();
  CHECK(memory::peak_bytes() == before);
  {
    const Storage a(1000);
    CHECK(memory::live_bytes() == before + 1000);
    { const Storage b(500); }
    CHECK(memory::live_bytes() == before + 1000);
    CHECK(memory::peak_bytes() == before + 1500);
  }
  CHECK(memory::live_bytes() == before);
  CHECK(memory::peak_bytes() == before + 1500);
  // A block is at most a quarter larger than what was asked for.
  const std::size_t cached = memory::cached_bytes();
  if (memory::pooled()) CHECK(cached >= 1500);
  CHECK(cached <= 1500 * 5 / 4);
  memory::trim();
  CHECK(memory::cached_bytes() == 0);
}

TEST_CASE("memory: a freed block is used again, and no other size takes it") {
  if (!memory::pooled()) return;
  memory::trim();
  const void* first = nullptr;
  {
    const Storage a(3000);
    first = a.data();
  }
  const std::uint64_t before = memory::system_allocations();
  {
    const Storage larger(30000);
    CHECK(memory::system_allocations() == before + 1);
    const Storage again(2999);
    CHECK(again.data() == first);
    CHECK(memory::system_allocations() == before + 1);
  }
  memory::trim();
  const Storage anew(3000);
  CHECK(memory::system_allocations() == before + 2);
}

TEST_CASE("memory: training steps after the first do not ask the system for memory") {
  if (!memory::pooled()) return;
  Rng rng(1);
  Tensor weight = randn({8, 16}, rng), bias = zeros({16});
  weight.requires_grad_();
  bias.requires_grad_();
  const Tensor x = randn({32, 8}, rng);
  const auto step = [&] {
    const Tensor y = relu(matmul(x, weight) + bias);
    mean(y * y).backward();
    const NoGrad no_grad;
    assign(weight, weight - 0.1 * weight.grad());
    assign(bias, bias - 0.1 * bias.grad());
    weight.zero_grad();
    bias.zero_grad();
  };
  step();
  const std::uint64_t after_first = memory::system_allocations();
  for (int i = 0; i < 5; ++i) step();
  CHECK(memory::system_allocations() == after_first);
}

TEST_CASE("memory: a graph that is dropped leaves no bytes behind") {
  const std::size_t before = memory::live_bytes();
  {
    Tensor x = ones({100});
    x.requires_grad_();
    Tensor y = x;
    for (int i = 0; i < 10; ++i) y = reshape(slice(concat({y, y}), 0, 50, 150) * y, {100});
    sum(y).backward();
    CHECK(memory::live_bytes() > before);
  }
  CHECK(memory::live_bytes() == before);
}

TEST_CASE("Storage: more memory than there is gives an Error, and nothing is lost") {
  const std::size_t before = memory::live_bytes();
  if (memory::pooled()) {  // AddressSanitizer ends the program instead of returning null
    CHECK_THROWS_WITH_AS(
        Storage(std::size_t{1} << 50),
        fmt::format("storage: out of memory, 1125899906842624 bytes were asked for, {} are live",
                    before)
            .c_str(),
        Error);
    CHECK_THROWS_AS(zeros({std::int64_t{1} << 50}), Error);
  }
  CHECK_THROWS_AS(Storage(SIZE_MAX), Error);
  CHECK(memory::live_bytes() == before);
  CHECK(sum(ones({10})).item() == 10);
}

TEST_CASE("memory: threads take and give back blocks side by side") {
  const std::size_t before = memory::live_bytes();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const Storage block(64 + i % 7 * 100);
        auto* data = static_cast<volatile int*>(block.data());
        data[0] = t;
        data[15] = t;
        if (data[0] != t || data[15] != t) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(memory::live_bytes() == before);
}
