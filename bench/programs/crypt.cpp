// Encrypts a text with the block cipher IDEA and decrypts it again. Blocks are independent (the plainest
// mode, ECB), so each thread has its share of them; between the two directions the team is joined.
//
// IDEA mixes three groups on 16-bit words: exclusive or, addition modulo 2^16, and multiplication modulo 2^16
// + 1 in which the word 0 stands for 2^16.
//
// Size: bytes, rounded up to whole blocks of 8; the work is proportional. Small: 700000.
#include <array>
#include <string>
#include <vector>

#include "kernel.h"

namespace kernel::crypt {
namespace {

constexpr kernel::Sizes kSizes{.normal = 35'000'000, .small = 700'000};

constexpr std::size_t kBlockBytes = 8;
constexpr std::size_t kRounds = 8;
constexpr std::size_t kKeysPerRound = 6;
constexpr std::size_t kSubkeys = kRounds * kKeysPerRound + 4;

using Word = uint16_t;
using Block = std::array<Word, 4>;
using Key = std::array<Word, 8>;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t kModulus = 65537;

Word add(Word left, Word right) { return static_cast<Word>(left + right); }
Word negate(Word word) { return static_cast<Word>(-word); }

Word multiply(Word left, Word right) {
  const uint64_t product = uint64_t{left == 0 ? kModulus - 1 : left} * (right == 0 ? kModulus - 1 : right);
  return static_cast<Word>(product % kModulus);
}

// The modulus p is prime, so word^(p - 2) is the inverse; p - 2 has sixteen bits, all ones.
Word invert(Word word) {
  Word inverse = word;
  for (int bit = 1; bit < 16; ++bit) inverse = multiply(multiply(inverse, inverse), word);
  return inverse;
}

class Cipher {
 public:
  static Cipher encrypting(const Key& key) {
    Cipher cipher;
    // Eight subkeys are the key itself; for each further eight the key is rotated left by 25 bits.
    Key rotated = key;
    for (std::size_t i = 0; i < kSubkeys; ++i) {
      if (i > 0 && i % 8 == 0) {
        const Key before = rotated;
        for (std::size_t word = 0; word < 8; ++word)
          rotated[word] = static_cast<Word>(before[(word + 1) % 8] << 9 | before[(word + 2) % 8] >> 7);
      }
      cipher.subkeys_[i] = rotated[i % 8];
    }
    return cipher;
  }

  // The same rounds with the inverse subkeys in reverse order undo them.
  Cipher inverse() const {
    Cipher cipher;
    for (std::size_t round = 0; round <= kRounds; ++round) {
      const Word* from = &subkeys_[(kRounds - round) * kKeysPerRound];
      Word* to = &cipher.subkeys_[round * kKeysPerRound];
      // Inner rounds end by exchanging the two middle words, the first and the last do not.
      const bool exchanged = round != 0 && round != kRounds;
      to[0] = invert(from[0]);
      to[1] = negate(from[exchanged ? 2 : 1]);
      to[2] = negate(from[exchanged ? 1 : 2]);
      to[3] = invert(from[3]);
      if (round == kRounds) break;
      const Word* mixing = &subkeys_[(kRounds - round - 1) * kKeysPerRound + 4];
      to[4] = mixing[0];
      to[5] = mixing[1];
    }
    return cipher;
  }

  Block apply(Block block) const {
    auto [a, b, c, d] = block;
    const Word* key = subkeys_.data();
    for (std::size_t round = 0; round < kRounds; ++round, key += kKeysPerRound) {
      a = multiply(a, key[0]);
      b = add(b, key[1]);
      c = add(c, key[2]);
      d = multiply(d, key[3]);
      const Word first = multiply(a ^ c, key[4]);
      const Word second = multiply(add(b ^ d, first), key[5]);
      const Word third = add(first, second);
      a ^= second;
      d ^= third;
      const Word middle = b ^ third;
      b = c ^ second;
      c = middle;
    }
    return {multiply(a, key[0]), add(c, key[1]), add(b, key[2]), multiply(d, key[3])};
  }

  // The given blocks of `in`, to the same place in `out`.
  void apply(kernel::Range blocks, const Bytes& in, Bytes& out) const {
    for (std::size_t number = blocks.begin; number < blocks.end; ++number) {
      const std::size_t begin = number * kBlockBytes;
      Block block;
      for (std::size_t word = 0; word < 4; ++word)
        block[word] = static_cast<Word>(in[begin + 2 * word] << 8 | in[begin + 2 * word + 1]);
      block = apply(block);
      for (std::size_t word = 0; word < 4; ++word) {
        out[begin + 2 * word] = static_cast<uint8_t>(block[word] >> 8);
        out[begin + 2 * word + 1] = static_cast<uint8_t>(block[word] & 0xFF);
      }
    }
  }

 private:
  std::array<Word, kSubkeys> subkeys_{};
};

void apply_in_parallel(const Cipher& cipher, std::size_t threads, const Bytes& in, Bytes& out) {
  kernel::run_team(threads, [&](std::size_t thread) {
    cipher.apply(kernel::share_of(in.size() / kBlockBytes, threads, thread), in, out);
  });
}

}  // namespace

std::string run(const kernel::Program& program) {
  Bytes text((program.size() + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
  kernel::Random random(1);
  for (uint8_t& byte : text) byte = static_cast<uint8_t>(random.next() >> 56);

  // The example that the cipher was published with.
  const Cipher encrypt = Cipher::encrypting({1, 2, 3, 4, 5, 6, 7, 8});
  program.check(encrypt.apply({0, 1, 2, 3}) == Block{0x11FB, 0xED2B, 0x0198, 0x6DE5},
                "the published example is encrypted differently");

  Bytes secret(text.size());
  Bytes decrypted(text.size());
  apply_in_parallel(encrypt, program.threads(), text, secret);
  apply_in_parallel(encrypt.inverse(), program.threads(), secret, decrypted);

  program.check(decrypted == text, "the decrypted text is not the text");
  uint64_t checksum = 0;
  for (const uint8_t byte : secret) checksum = checksum * 31 + byte;
  return kernel::format("%zu bytes, checksum of the secret text %016llx", text.size(),
                        static_cast<unsigned long long>(checksum));
}

}  // namespace kernel::crypt

KERNEL_MAIN(crypt, kernel::Bug::kNone);
