#!/usr/bin/env python3
"""A depthwise weight gradient in Triton, compiled ahead of time for AMD targets: no GPU is needed.

    python3 -m venv venv && venv/bin/pip install triton
    venv/bin/python tools/peers/triton_depthwise.py [--filter 7] [--repeat 5] [gfx950 ...]

Prints a row a target: the time of a compile without Triton's cache, registers, and what the loop over the pixels consists
of. Nothing of Tilewright needs this script; docs/performance.md says what it is compared with.
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
def wgrad(x, dy, slab, n, h, w, ho, wo, c, pad_h, pad_w, rows_of_program,
          KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, TAPS: tl.constexpr, CHANNELS: tl.constexpr):
    """A program owns CHANNELS channels and a share of the output rows; its tile of sums is [tap, channel]."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    tap = tl.arange(0, TAPS)
    r = tap // KW
    s = tap % KW
    has_channel = channel < c
    has_tap = tap < KH * KW
    acc = tl.zeros((TAPS, CHANNELS), tl.float32)
    first = tl.program_id(1) * rows_of_program
    last = tl.minimum(first + rows_of_program, n * ho)
    for i in range(first, last):
        image = i // ho
        y = i % ho
        row = y * STRIDE + r - pad_h
        row_inside = has_tap & (row >= 0) & (row < h)
        for column in range(0, wo):
            at = column * STRIDE + s - pad_w
            inside = row_inside & (at >= 0) & (at < w)
            gradient = tl.load(dy + (i * wo + column) * c + channel, mask=has_channel, other=0.0)
            pixel = ((image * h + row) * w + at) * c
            value = tl.load(x + pixel[:, None] + channel[None, :], mask=inside[:, None] & has_channel[None, :], other=0.0)
            acc += gradient.to(tl.float32)[None, :] * value.to(tl.float32)
    tl.atomic_add(slab + tap[:, None] * c + channel[None, :], acc, mask=has_tap[:, None] & has_channel[None, :], sem="relaxed")


def hot_loop(assembly):
    """The mnemonics of the innermost loop, all its blocks, as LLVM's comments name them; of several, the one with most fmas."""
    bodies, header, block = {}, None, ""
    for line in assembly.splitlines():
        label = re.match(r"\.L(BB\w+):|; %bb\.\d+:", line)
        if label:
            header, block = None, label.group(1)
        inside = re.search(r"in Loop: Header=(BB\w+) Depth=(\d+)", line)
        begins = re.search(r"This Inner Loop Header: Depth=(\d+)", line)
        if inside:
            header = inside.group(1)
        elif begins:
            header = block
            bodies.setdefault(header, []).insert(0, None)
        instruction = re.match(r"\s+([a-z]\w+)(\s|$)", line)
        if instruction and header:
            bodies.setdefault(header, []).append(instruction.group(1))
    inner = [[op for op in body if op] for body in bodies.values() if None in body]
    return max(inner, key=lambda body: sum("fma" in op for op in body), default=[])


def field(assembly, name):
    match = re.search(rf"\.{name}:\s*(\d+)", assembly)
    return int(match.group(1)) if match else -1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--dtype", choices=["bf16", "fp16"], default="bf16")
    parser.add_argument("--save", metavar="FOLDER", help="keep the code objects: FOLDER/triton.TARGET.DTYPE.FILTER.hsaco")
    parser.add_argument("targets", nargs="*", default=["gfx942", "gfx950", "gfx1250"])
    options = parser.parse_args()
    names = ["n", "h", "w", "ho", "wo", "c", "pad_h", "pad_w", "rows_of_program"]
    constants = {"KH": options.filter, "KW": options.filter, "STRIDE": 1,
                 "TAPS": triton.next_power_of_2(options.filter ** 2)}
    print(f"triton {triton.__version__}, {options.dtype} {options.filter}x{options.filter}, {options.warps} warps")
    print("| target | compile ms | VGPRs | AGPRs | SGPRs | VGPR, SGPR spills | loop: instructions | VALU | FMA | loads | products |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in options.targets:
        lanes = 64 if name.startswith("gfx9") else 32
        target = GPUTarget("hip", name, lanes)
        constants["CHANNELS"] = lanes
        signature = {"x": "*" + options.dtype, "dy": "*" + options.dtype, "slab": "*fp32"}
        signature.update({k: "i32" for k in names})
        signature.update({k: "constexpr" for k in constants})
        times, assembly = [], ""
        for _ in range(options.repeat):
            source = ASTSource(fn=wgrad, signature=signature, constexprs=constants)
            with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
                triton.knobs.cache.dir = folder
                start = time.perf_counter()
                kernel = triton.compile(source, target=target, options={"num_warps": options.warps})
                times.append((time.perf_counter() - start) * 1e3)
            assembly = kernel.asm["amdgcn"]
        if options.save:
            dtype = "f16" if options.dtype == "fp16" else options.dtype
            path = os.path.join(options.save, f"triton.{name}.{dtype}.{options.filter}.hsaco")
            with open(path, "wb") as file:
                file.write(kernel.asm["hsaco"])
        body = hot_loop(assembly)
        valu = [op for op in body if op.startswith("v_")]
        fma = [op for op in valu if "fma" in op]
        packed = sum(op.startswith("v_pk_fma") for op in fma)
        loads = [op for op in body if re.match(r"(global|buffer|flat)_load", op)]
        print(f"| {name} | {statistics.median(times):.0f} | {field(assembly, 'vgpr_count')} | {field(assembly, 'agpr_count')} "
              f"| {field(assembly, 'sgpr_count')} | {field(assembly, 'vgpr_spill_count')}, {field(assembly, 'sgpr_spill_count')} "
              f"| {len(body)} | {len(valu)} | {len(fma)} | {len(loads)} | {len(fma) + packed} |")


if __name__ == "__main__":
    main()
