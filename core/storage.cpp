// The pool: freed blocks wait in lists by size class, most recently freed first (warm in cache).
#include "core/storage.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "core/error.h"

namespace gradzoo {
namespace {

constexpr std::size_t kAlignment = 64;

// Size classes are powers of two and three steps between each: at most 25 % of a block is slack.
std::size_t class_size(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const std::size_t step = std::max(std::bit_floor(bytes - 1) / 4, kAlignment);
  return (bytes + step - 1) / step * step;
}

struct Pool {
  std::mutex mutex;
  std::unordered_map<std::size_t, std::vector<void*>> free_blocks;
  std::size_t live = 0;
  std::size_t peak = 0;
  std::size_t cached = 0;
  std::uint64_t system_allocations = 0;

  void* take(std::size_t bytes) {
    const std::size_t size = class_size(bytes);
    const std::lock_guard lock(mutex);
    void* block = nullptr;
    if (auto& blocks = free_blocks[size]; !blocks.empty()) {
      block = blocks.back();
      blocks.pop_back();
      cached -= size;
    } else {
      block = system_allocate(size, bytes);
    }
    live += bytes;
    peak = std::max(peak, live);
    return block;
  }

  void* system_allocate(std::size_t size, std::size_t bytes) {
    void* block = ::operator new(size, std::align_val_t(kAlignment), std::nothrow);
    if (block == nullptr) {  // the freed blocks of other sizes may be what is missing
      release_cached();
      block = ::operator new(size, std::align_val_t(kAlignment), std::nothrow);
    }
    check(block != nullptr, "storage: out of memory, {} bytes were asked for, {} are live", bytes,
          live);
    ++system_allocations;
    return block;
  }

  void give_back(void* block, std::size_t bytes) noexcept {
    const std::size_t size = class_size(bytes);
    const std::lock_guard lock(mutex);
    free_blocks[size].push_back(block);
    cached += size;
    live -= bytes;
  }

  void release_cached() {
    for (auto& [size, blocks] : free_blocks) {
      for (void* block : blocks) ::operator delete(block, std::align_val_t(kAlignment));
      blocks.clear();
    }
    cached = 0;
  }
};

// Never destroyed: tensors with static lifetime may be freed after any other static object.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

Storage::Storage(std::size_t bytes) : data_(pool().take(bytes)), bytes_(bytes) {}

Storage::~Storage() { pool().give_back(data_, bytes_); }

namespace memory {

std::size_t live_bytes() {
  const std::lock_guard lock(pool().mutex);
  return pool().live;
}

std::size_t peak_bytes() {
  const std::lock_guard lock(pool().mutex);
  return pool().peak;
}

void reset_peak() {
  const std::lock_guard lock(pool().mutex);
  pool().peak = pool().live;
}

std::size_t cached_bytes() {
  const std::lock_guard lock(pool().mutex);
  return pool().cached;
}

std::uint64_t system_allocations() {
  const std::lock_guard lock(pool().mutex);
  return pool().system_allocations;
}

void trim() {
  const std::lock_guard lock(pool().mutex);
  pool().release_cached();
}

}  // namespace memory

}  // namespace gradzoo
