/* Strings and streams of bytes, one a work-item. */
#include "tests/hip/kernel.h"

FN u32 byte_at(const u32 *in, u32 i) { return in[i / 4] >> i % 4 * 8 & 255; }

CONSTANT u32 CRC_NIBBLES[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
BODY(crc32_table) {
    u32 crc = ~0u;
    UNUSED_N;
    for (u32 i = 0; i < 32; i++) {
        crc ^= byte_at(in + G * 8, i);
        crc = crc >> 4 ^ CRC_NIBBLES[crc & 15];
        crc = crc >> 4 ^ CRC_NIBBLES[crc & 15];
    }
    out[G] = ~crc;
}

CONSTANT u32 SHA_K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
BODY(sha256_block) {
    u32 w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 h[8];
    UNUSED_N;
    for (u32 i = 0; i < 16; i++)
        w[i] = __builtin_bswap32(in[G * 16 + i]);
    for (u32 i = 0; i < 8; i++)
        h[i] = s[i];
    for (u32 r = 0; r < 64; r++) {
        if (r >= 16) {
            u32 a = w[(r + 1) & 15], b = w[(r + 14) & 15];
            w[r & 15] +=
                (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[(r + 9) & 15] + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
        }
        u32 t = h[7] + (rotr(h[4], 6) ^ rotr(h[4], 11) ^ rotr(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) +
                SHA_K[r] + w[r & 15];
        u32 m = (rotr(h[0], 2) ^ rotr(h[0], 13) ^ rotr(h[0], 22)) +
                ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (u32 i = 7; i > 0; i--)
            h[i] = h[i - 1];
        h[4] += t;
        h[0] = t + m;
    }
    for (u32 i = 0; i < 8; i++)
        out[G * 8 + i] = s[i] + h[i];
}

/* Six bytes a work-item become eight characters. */
FN char base64_digit(u32 v) {
    return (char)(v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/');
}
BODY(base64_encode) {
    const u8 *p = (const u8 *)in + G * 6;
    char *q = (char *)out + G * 8;
    UNUSED_N;
    for (u32 i = 0; i < 2; i++) {
        u32 v = (u32)p[3 * i] << 16 | (u32)p[3 * i + 1] << 8 | p[3 * i + 2];
        for (u32 k = 0; k < 4; k++)
            q[4 * i + k] = base64_digit(v >> (18 - 6 * k) & 63);
    }
}

/* Counts characters and errors of UTF-8, decoding as it goes. */
BODY(utf8_count) {
    u32 characters = 0, errors = 0, sum = 0, need = 0, value = 0;
    UNUSED_N;
    for (u32 i = 0; i < 24; i++) {
        /* Bits that are likely to make sequences. */
        u32 r = byte_at(in + G * 6, i), c = r < 80    ? r
                                            : r < 160 ? 0x80 | (r & 63)
                                            : r < 200 ? 0xc0 | (r & 31)
                                            : r < 230 ? 0xe0 | (r & 15)
                                                      : 0xf0 | (r & 7);
        if (need) {
            if ((c & 0xc0) == 0x80) {
                value = value << 6 | (c & 63);
                if (--need == 0) {
                    characters++;
                    sum += value;
                }
                continue;
            }
            errors++;
            need = 0;
        }
        if (c < 0x80) {
            characters++;
            sum += c;
        } else if ((c & 0xe0) == 0xc0) {
            need = 1;
            value = c & 31;
        } else if ((c & 0xf0) == 0xe0) {
            need = 2;
            value = c & 15;
        } else if ((c & 0xf8) == 0xf0) {
            need = 3;
            value = c & 7;
        } else
            errors++;
    }
    out[2 * G] = characters << 16 | errors;
    out[2 * G + 1] = sum;
}

/* Fewest edits between two words over four letters. */
BODY(levenshtein) {
    u8 row[17];
    u32 a = in[2 * G], b = in[2 * G + 1];
    UNUSED_N;
    for (u32 k = 0; k <= 16; k++)
        row[k] = (u8)k;
    for (u32 i = 1; i <= 16; i++) {
        u8 diagonal = row[0];
        row[0] = (u8)i;
        for (u32 k = 1; k <= 16; k++) {
            u8 up = row[k];
            u32 cost = (a >> 2 * (i - 1) & 3) != (b >> 2 * (k - 1) & 3);
            row[k] = (u8)umin(umin(up + 1u, row[k - 1] + 1u), diagonal + cost);
            diagonal = up;
        }
    }
    out[G] = row[16];
}

/* Knuth, Morris, Pratt on bits: how often does a pattern of 7 bits stand in 128. */
BODY(substring_search) {
    u32 fail[8] = {0}, found = 0, k = 0, last = 0, pattern = in[G] >> 25;
    UNUSED_N;
    for (u32 i = 1; i < 7; i++) {
        while (k && (pattern >> k & 1) != (pattern >> i & 1))
            k = fail[k - 1];
        if ((pattern >> k & 1) == (pattern >> i & 1)) k++;
        fail[i] = k;
    }
    k = 0;
    for (u32 i = 0; i < 128; i++) {
        u32 bit = in[G + i / 32] >> i % 32 & 1;
        while (k && (pattern >> k & 1) != bit)
            k = fail[k - 1];
        if ((pattern >> k & 1) == bit) k++;
        if (k == 7) {
            found++;
            last = i;
            k = fail[k - 1];
        }
    }
    out[G] = found << 16 | last;
}

/* Numbers to text in several bases, and back. */
BODY(number_text) {
    char text[40];
    UNUSED_N;
    u64 v = wide(in[2 * G], in[2 * G + 1]), back = 0;
    u32 base = 2 + G % 35, count = 0, sum = 0;
    u64 left = v;
    do {
        u32 d = (u32)(left % base);
        text[count++] = (char)(d < 10 ? '0' + d : 'a' + d - 10);
        left /= base;
    } while (left && count < 40);
    for (u32 i = count; i-- > 0;) {
        char c = text[i];
        sum = sum * 31 + (u32)c;
        back = back * base + (u32)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    out[4 * G] = count;
    out[4 * G + 1] = sum;
    put64(out + 4 * G + 2, back);
}

/* Copies and literals of a small window, as decompressors have them. */
BODY(decompress) {
    u8 window[64];
    u32 filled = 0, hash = 2166136261u;
    UNUSED_N;
    for (u32 i = 0; filled < 64; i = (i + 1) % 8) {
        u32 token = in[G * 8 + i];
        if ((token & 3) && filled) {
            u32 distance = 1 + (token >> 8) % filled, length = umin(3 + (token >> 2 & 15), 64 - filled);
            for (u32 k = 0; k < length; k++, filled++)
                window[filled] = window[filled - distance];
        } else
            window[filled++] = (u8)(token >> 24);
    }
    for (u32 i = 0; i < 64; i++)
        hash = (hash ^ window[i]) * 16777619u;
    out[G] = hash;
}

/* Codes of one to five bits from a stream of bits. */
BODY(bit_reader) {
    u64 buffer = 0;
    u32 bits = 0, next = 0, sum = 0, symbols = 0;
    UNUSED_N;
    while (next < 8 || bits >= 5) {
        if (bits < 32 && next < 8) {
            buffer |= (u64)in[G * 8 + next++] << bits;
            bits += 32;
        }
        u32 ones = (u32)__builtin_ctz(~(u32)buffer | 1u << 4), length = ones < 4 ? ones + 1 : 5;
        sum = sum * 17 + ones * 3 + ((u32)buffer >> 4 & 1);
        symbols++;
        buffer >>= length;
        bits -= length;
    }
    out[2 * G] = symbols;
    out[2 * G + 1] = sum;
}

BODY(md5_rounds) {
    u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    UNUSED_N;
    for (u32 i = 0; i < 64; i++) {
        u32 f, g;
        if (i < 16)
            f = (b & c) | (~b & d), g = i;
        else if (i < 32)
            f = (d & b) | (~d & c), g = (5 * i + 1) & 15;
        else if (i < 48)
            f = b ^ c ^ d, g = (3 * i + 5) & 15;
        else
            f = c ^ (b | ~d), g = 7 * i & 15;
        f += a + SHA_K[i] + in[G * 16 + g];
        a = d;
        d = c;
        c = b;
        b += rotl(f, 4 + i % 4 * 5 + i / 16);
    }
    out[4 * G] = a;
    out[4 * G + 1] = b;
    out[4 * G + 2] = c;
    out[4 * G + 3] = d;
}
