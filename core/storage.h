// Memory of tensors: reference-counted blocks from a pool that keeps freed ones for reuse.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gradzoo {

/// A block of bytes, aligned to 64, uninitialised. Its version counts how often it was
/// overwritten, so that backward can tell when a saved value is no longer what it was.
class Storage {
 public:
  /// Throws Error when the system has not that much memory.
  explicit Storage(std::size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::atomic<std::uint64_t> version_{0};
};

using StoragePtr = std::shared_ptr<Storage>;

/// Readings of the pool; all functions are safe from any thread.
namespace memory {

/// Whether freed blocks are kept for reuse: not under AddressSanitizer.
bool pooled();
/// Bytes asked for by storages that are alive now.
std::size_t live_bytes();
/// The most live_bytes has been since the start or the last reset_peak.
std::size_t peak_bytes();
void reset_peak();
/// Bytes of freed blocks that wait for reuse.
std::size_t cached_bytes();
/// How often the pool has asked the system for memory.
std::uint64_t system_allocations();
/// Gives the freed blocks back to the system.
void trim();

}  // namespace memory

}  // namespace gradzoo
