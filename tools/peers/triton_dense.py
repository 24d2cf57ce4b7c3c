#!/usr/bin/env python3
"""Weight gradients of dense convolutions in Triton, on matrix units, compiled ahead of time for AMD targets: no GPU is needed.

    python3 -m venv venv && venv/bin/pip install triton
    venv/bin/python tools/peers/triton_dense.py --save objects [--filter 3] [--dtype f16] [gfx950 ...]

Writes one code object a form and block size, and a line of FOLDER/triton.list for each, which tests/peers/dense reads: how to launch
it and how long its compile took. Nothing of Tilewright needs this script; docs/performance.md says what it is compared with.
"""
import argparse
import os
import re
import statistics
import tempfile
import time

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def places(p, last, h, w, ho, wo, pad_h, pad_w, r, KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr):
    """Image row of X (counted over all images), its column for tap column 0, and whether position and row exist."""
    image = p // (ho * wo)
    at = p % (ho * wo)
    row = at // wo * STRIDE + r - pad_h
    return image * h + row, at % wo * STRIDE - pad_w, (p < last) & (row >= 0) & (row < h)


@triton.jit
def wgrad_tap(x, dy, slab, n, h, w, ho, wo, c, k, pad_h, pad_w, share,
              KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr,
              BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr):
    """An implicit GEMM: a program owns a tile of k x c of one tap, and a share of the flattened output positions."""
    tile = tl.program_id(0)
    tap = tile % (KH * KW)
    tile = tile // (KH * KW)
    r = tap // KW
    s = tap % KW
    tiles_c = tl.cdiv(c, BLOCK_C)
    ks = tile // tiles_c * BLOCK_K + tl.arange(0, BLOCK_K)
    cs = tile % tiles_c * BLOCK_C + tl.arange(0, BLOCK_C)
    first = tl.program_id(1) * share
    last = tl.minimum(first + share, n * ho * wo)
    acc = tl.zeros((BLOCK_K, BLOCK_C), tl.float32)
    for start in range(first, last, BLOCK_P):
        p = start + tl.arange(0, BLOCK_P)
        g = tl.load(dy + p[:, None] * k + ks[None, :], mask=(p < last)[:, None] & (ks < k)[None, :], other=0.0)
        if KH == 1 and KW == 1 and STRIDE == 1:
            pixel = p
            inside = p < last
        else:
            row, column, inside = places(p, last, h, w, ho, wo, pad_h, pad_w, r, KH, KW, STRIDE)
            pixel = row * w + column + s
            inside = inside & (column + s >= 0) & (column + s < w)
        v = tl.load(x + pixel[:, None] * c + cs[None, :], mask=inside[:, None] & (cs < c)[None, :], other=0.0)
        acc = tl.dot(tl.trans(g), v, acc)
    out = (ks[:, None] * (KH * KW) + tap) * c + cs[None, :]
    tl.atomic_add(slab + out, acc, mask=(ks < k)[:, None] & (cs < c)[None, :], sem="relaxed")


@triton.jit
def wgrad_row(x, dy, slab, n, h, w, ho, wo, c, k, pad_h, pad_w, share,
              KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr,
              BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr):
    """The same for the three taps of a filter row: a tile of dY is loaded once and meets three of X."""
    tl.static_assert(KW == 3)
    tile = tl.program_id(0)
    r = tile % KH
    tile = tile // KH
    tiles_c = tl.cdiv(c, BLOCK_C)
    ks = tile // tiles_c * BLOCK_K + tl.arange(0, BLOCK_K)
    cs = tile % tiles_c * BLOCK_C + tl.arange(0, BLOCK_C)
    first = tl.program_id(1) * share
    last = tl.minimum(first + share, n * ho * wo)
    acc0 = tl.zeros((BLOCK_K, BLOCK_C), tl.float32)
    acc1 = tl.zeros((BLOCK_K, BLOCK_C), tl.float32)
    acc2 = tl.zeros((BLOCK_K, BLOCK_C), tl.float32)
    for start in range(first, last, BLOCK_P):
        p = start + tl.arange(0, BLOCK_P)
        g = tl.load(dy + p[:, None] * k + ks[None, :], mask=(p < last)[:, None] & (ks < k)[None, :], other=0.0)
        row, column, inside = places(p, last, h, w, ho, wo, pad_h, pad_w, r, KH, KW, STRIDE)
        at = x + (row * w + column)[:, None] * c + cs[None, :]
        has = (cs < c)[None, :]
        v0 = tl.load(at, mask=(inside & (column >= 0) & (column < w))[:, None] & has, other=0.0)
        v1 = tl.load(at + c, mask=(inside & (column + 1 >= 0) & (column + 1 < w))[:, None] & has, other=0.0)
        v2 = tl.load(at + 2 * c, mask=(inside & (column + 2 >= 0) & (column + 2 < w))[:, None] & has, other=0.0)
        gt = tl.trans(g)
        acc0 = tl.dot(gt, v0, acc0)
        acc1 = tl.dot(gt, v1, acc1)
        acc2 = tl.dot(gt, v2, acc2)
    out = slab + (ks[:, None] * (KH * KW) + r * KW) * c + cs[None, :]
    has = (ks < k)[:, None] & (cs < c)[None, :]
    tl.atomic_add(out, acc0, mask=has, sem="relaxed")
    tl.atomic_add(out + c, acc1, mask=has, sem="relaxed")
    tl.atomic_add(out + 2 * c, acc2, mask=has, sem="relaxed")


@triton.jit
def wgrad_flat(x, dy, slab, n, h, w, ho, wo, c, k, pad_h, pad_w, share,
               KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr,
               BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr, BLOCK_P: tl.constexpr):
    """The same with columns that are the flattened filter, (r, s, c), for few channels."""
    columns = KH * KW * c
    tiles = tl.cdiv(columns, BLOCK_C)
    tile = tl.program_id(0)
    ks = tile // tiles * BLOCK_K + tl.arange(0, BLOCK_K)
    qs = tile % tiles * BLOCK_C + tl.arange(0, BLOCK_C)
    channel = qs % c
    s = qs // c % KW
    r = qs // c // KW
    first = tl.program_id(1) * share
    last = tl.minimum(first + share, n * ho * wo)
    acc = tl.zeros((BLOCK_K, BLOCK_C), tl.float32)
    for start in range(first, last, BLOCK_P):
        p = start + tl.arange(0, BLOCK_P)
        g = tl.load(dy + p[:, None] * k + ks[None, :], mask=(p < last)[:, None] & (ks < k)[None, :], other=0.0)
        image = p // (ho * wo)
        at = p % (ho * wo)
        row = (at // wo * STRIDE - pad_h)[:, None] + r[None, :]
        column = (at % wo * STRIDE - pad_w)[:, None] + s[None, :]
        inside = (p < last)[:, None] & (qs < columns)[None, :] & (row >= 0) & (row < h) & (column >= 0) & (column < w)
        pixel = (image * h)[:, None] * w + row * w + column
        v = tl.load(x + pixel * c + channel[None, :], mask=inside, other=0.0)
        acc = tl.dot(tl.trans(g), v, acc)
    tl.atomic_add(slab + ks[:, None] * columns + qs[None, :], acc,
                  mask=(ks < k)[:, None] & (qs < columns)[None, :], sem="relaxed")


# Form, BLOCK_K, BLOCK_C, BLOCK_P, warps, stages.
DENSE = [(form, *shape) for form in ("tap", "row") for shape in [
    (64, 64, 32, 4, 2), (64, 64, 64, 4, 2), (64, 64, 64, 4, 1), (64, 64, 32, 4, 3), (128, 64, 32, 4, 2), (128, 128, 32, 8, 2)]]
DENSE.append(("tap", 128, 128, 32, 4, 2))
STEM = [("flat", *shape) for shape in [(64, 32, 32, 4, 2), (64, 32, 64, 4, 2), (64, 32, 64, 2, 2), (64, 32, 128, 4, 1)]]
WIDE_STEM = [("flat", *shape) for shape in [(64, 64, 32, 4, 2), (64, 32, 64, 4, 2), (64, 128, 32, 4, 2), (64, 128, 64, 4, 1)]]
# Name, filter, stride, forms, whether c is a multiple of 16.
CASES = {"3x3": (3, 1, DENSE, True), "1x1": (1, 1, [f for f in DENSE if f[0] == "tap"], True),
         "stem3": (3, 1, STEM, False), "stem7": (7, 2, WIDE_STEM, False)}
FORMS = {"tap": wgrad_tap, "row": wgrad_row, "flat": wgrad_flat}
ARGUMENTS = ["x", "dy", "slab", "n", "h", "w", "ho", "wo", "c", "k", "pad_h", "pad_w", "share"]


def source_of(form, case, dtype, block_k, block_c, block_p):
    size, stride, _, aligned = CASES[case]
    constants = {"KH": size, "KW": size, "STRIDE": stride, "BLOCK_K": block_k, "BLOCK_C": block_c, "BLOCK_P": block_p}
    pointer = "*fp16" if dtype == "f16" else "*bf16"
    signature = {"x": pointer, "dy": pointer, "slab": "*fp32"}
    signature.update({name: "i32" for name in ARGUMENTS[3:]})
    signature.update({name: "constexpr" for name in constants})
    # What Triton's just-in-time compiler finds out of arguments: aligned pointers to less than 2 GiB, multiples of 16.
    multiples = ["k", "c"] if aligned else ["k"]
    attributes = {(i,): [["tt.divisibility", 16], ["tt.pointer_range", 32]] for i in range(3)}
    attributes.update({(ARGUMENTS.index(name),): [["tt.divisibility", 16]] for name in multiples})
    return ASTSource(fn=FORMS[form], signature=signature, constexprs=constants, attrs=attributes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, action="append", help="default: all")
    parser.add_argument("--dtype", choices=["f16", "bf16"], action="append", help="default: both")
    parser.add_argument("--save", metavar="FOLDER", required=True)
    parser.add_argument("--repeat", type=int, default=1, help="compiles whose median the list has")
    parser.add_argument("--first", action="store_true", help="only the first block size of each form")
    parser.add_argument("targets", nargs="*", default=["gfx942", "gfx950", "gfx1201", "gfx1250"])
    options = parser.parse_args()
    os.makedirs(options.save, exist_ok=True)
    lines = open(os.path.join(options.save, "triton.list"), "w")
    warm = False
    for name in options.targets:
        target = GPUTarget("hip", name, 64 if name.startswith("gfx9") else 32)
        for case in options.case or CASES:
            for dtype in options.dtype or ["f16", "bf16"]:
                seen = set()
                for form, block_k, block_c, block_p, warps, stages in CASES[case][2]:
                    if options.first and form in seen:
                        continue
                    seen.add(form)
                    label = f"{form}-{block_k}x{block_c}x{block_p}-w{warps}-s{stages}"
                    times = []
                    for _ in range(options.repeat + (not warm)):
                        source = source_of(form, case, dtype, block_k, block_c, block_p)
                        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
                            triton.knobs.cache.dir = folder
                            start = time.perf_counter()
                            try:
                                kernel = triton.compile(source, target=target, options={"num_warps": warps, "num_stages": stages})
                            except Exception as error:  # of Triton's own, of any kind
                                print(f"{name} {case} {dtype} {label}: no code: {str(error).strip().splitlines()[-1:]}")
                                break
                            times.append((time.perf_counter() - start) * 1e3)
                    else:
                        spent = statistics.median(times if warm else times[1:])
                        warm = True
                        file = f"triton.{name}.{case}.{dtype}.{label}.hsaco"
                        with open(os.path.join(options.save, file), "wb") as out:
                            out.write(kernel.asm["hsaco"])
                        matrix = sorted(set(re.findall(r"v_s?w?mf?ma\w*?_(\d+x\d+x\d+)\w*", kernel.asm["amdgcn"])))
                        print(name, case, dtype, label, block_k, block_c, warps, kernel.metadata.shared, f"{spent:.0f}",
                              ",".join(matrix) or "-", kernel.metadata.name, file, file=lines, flush=True)


if __name__ == "__main__":
    main()
