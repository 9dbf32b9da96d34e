// The pool: freed blocks wait in lists by size class, most recently freed first (warm in cache).
#include "core/storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>

#include "core/error.h"

namespace gradzoo {
namespace {

constexpr std::size_t kAlignment = 64;

// AddressSanitizer sees overruns and uses after free only of blocks that come from the system as
// they were asked for, and go back at once.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooled = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kPooled = false;
#else
constexpr bool kPooled = true;
#endif
#else
constexpr bool kPooled = true;
#endif

// Size classes: up to 64 bytes, and from there four to each power of two, so that at most 25 % of
// a block is slack.
struct SizeClass {
  std::size_t index, size;
};
constexpr std::size_t kClasses = 4 * 64;
constexpr std::size_t kMostBytes = std::size_t{1} << 62;  // class_of goes no further

SizeClass class_of(std::size_t bytes) {
  if (bytes <= kAlignment) return {0, kAlignment};
  const std::size_t below = std::bit_floor(bytes - 1);
  const std::size_t quarter = (bytes - 1 - below) / (below / 4);
  return {4 * static_cast<std::size_t>(std::bit_width(below)) + quarter,
          below + (quarter + 1) * (below / 4)};
}

// A free block holds the address of the next one of its class.
struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  std::mutex mutex;
  std::array<FreeBlock*, kClasses> free_blocks{};
  std::size_t live = 0;
  std::size_t peak = 0;
  std::size_t cached = 0;
  std::uint64_t system_allocations = 0;

  void* take(std::size_t bytes) {
    check(bytes <= kMostBytes, "storage: {} bytes are more than there can be", bytes);
    const auto [index, size] = class_of(bytes);
    const std::lock_guard lock(mutex);
    void* block = free_blocks[index];
    if (block != nullptr) {
      free_blocks[index] = free_blocks[index]->next;
      cached -= size;
    } else {
      block = system_allocate(kPooled ? size : std::max<std::size_t>(bytes, 1), bytes);
    }
    live += bytes;
    peak = std::max(peak, live);
    return block;
  }

  static void* system_block(std::size_t size) {
    return ::operator new(size, std::align_val_t(kAlignment), std::nothrow);
  }

  void* system_allocate(std::size_t size, std::size_t bytes) {
    void* block = system_block(size);
    if (block == nullptr) {  // the freed blocks of other sizes may be what is missing
      release_cached();
      block = system_block(size);
    }
    check(block != nullptr, "storage: out of memory, {} bytes were asked for, {} are live", bytes,
          live);
    ++system_allocations;
    return block;
  }

  void give_back(void* block, std::size_t bytes) noexcept {
    const auto [index, size] = class_of(bytes);
    const std::lock_guard lock(mutex);
    live -= bytes;
    if constexpr (kPooled) {
      free_blocks[index] = new (block) FreeBlock{free_blocks[index]};
      cached += size;
    } else {
      ::operator delete(block, std::align_val_t(kAlignment));
    }
  }

  void release_cached() {
    for (FreeBlock*& first : free_blocks) {
      while (first != nullptr) {
        void* block = first;
        first = first->next;
        ::operator delete(block, std::align_val_t(kAlignment));
      }
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

bool pooled() { return kPooled; }

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
