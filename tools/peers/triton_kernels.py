#!/usr/bin/env python3
"""Triton kernels, compiled ahead of time for AMD targets and run through 'tilewright exec': no GPU is needed.

    python3 -m venv venv && venv/bin/pip install triton numpy
    venv/bin/python tools/peers/triton_kernels.py --tilewright build/tools/tilewright [--kernel softmax] [gfx950 ...]

Each result is compared with numpy's; a report of the emulator is a failure. Prints a row a kernel and target, and ends with 1
where one failed. Nothing of Tilewright needs this script.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"]


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / n
    centred = tl.where(i < n, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(weight + i, mask=i < n, other=0.0)
    b = tl.load(bias + i, mask=i < n, other=0.0)
    tl.store(out + row * n + i, (centred * scale * w + b).to(tl.float16), mask=i < n)


@triton.jit
def product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr):
    """A matrix product without tl.dot: an outer product a step."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for step in range(0, k):
        column = tl.load(a + i * k + step, mask=i < m, other=0.0)
        row = tl.load(b + step * n + j, mask=j < n, other=0.0)
        acc += column[:, None] * row[None, :]
    tl.store(out + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def dot(a, b, out, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    """The same with tl.dot, on matrix units: whole tiles of f16."""
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    step = tl.arange(0, STEP)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, STEP):
        left = tl.load(a + i[:, None] * K + start + step[None, :])
        right = tl.load(b + (start + step[:, None]) * N * tl.num_programs(1) + j[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(out + i[:, None] * N * tl.num_programs(1) + j[None, :], acc)


@triton.jit
def cumulative(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), axis=0), mask=i < n)


@triton.jit
def ordered(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@triton.jit
def histogram(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin = tl.load(x + i, mask=i < n, other=0) & 31
    tl.atomic_add(counts + bin, 1, mask=i < n, sem="relaxed")


@triton.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :])))


class Case:
    """A kernel, its signature, and arrays: numbers are scalars, an array is an input, a shape an output of zeros."""

    def __init__(self, kernel, arguments, constants, grid, expected, tolerance):
        self.kernel, self.arguments, self.constants = kernel, arguments, constants
        self.grid, self.expected, self.tolerance = grid, expected, tolerance

    def signature(self):
        names = {"float32": "fp32", "float16": "fp16", "int32": "i32"}
        types = {}
        for name, value in self.arguments.items():
            if isinstance(value, np.ndarray):
                types[name] = "*" + names[str(value.dtype)]
            else:
                types[name] = "fp32" if isinstance(value, float) else "i32"
        return types | {name: "constexpr" for name in self.constants}


def cases():
    r = np.random.default_rng(1)
    f = lambda *shape: r.standard_normal(shape).astype(np.float32)
    x, y = f(1000), f(1000)
    yield Case(vector_add, {"x": x, "y": y, "out": np.zeros_like(x), "n": 1000}, {"BLOCK": 256}, (4, 1), x + y, 0)
    s = f(5, 333)
    e = np.exp(s - s.max(axis=1, keepdims=True))
    yield Case(softmax, {"x": s, "out": np.zeros_like(s), "n": 333}, {"BLOCK": 512}, (5, 1),
               e / e.sum(axis=1, keepdims=True), 1e-6)
    h, w, b = f(3, 777).astype(np.float16), f(777), f(777)
    wide = h.astype(np.float64)
    norm = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5) * w + b
    yield Case(layer_norm, {"x": h, "weight": w, "bias": b, "out": np.zeros_like(h), "n": 777, "eps": 1e-5},
               {"BLOCK": 1024}, (3, 1), norm, 1e-2)
    p, q = f(50, 37), f(37, 40)
    yield Case(product, {"a": p, "b": q, "out": np.zeros((50, 40), np.float32), "m": 50, "n": 40, "k": 37},
               {"M": 32, "N": 32}, (2, 2), p @ q, 1e-4)
    p, q = f(64, 96).astype(np.float16), f(96, 64).astype(np.float16)
    yield Case(dot, {"a": p, "b": q, "out": np.zeros((64, 64), np.float32), "K": 96}, {"M": 32, "N": 32, "STEP": 32},
               (2, 2), p.astype(np.float64) @ q.astype(np.float64), 1e-3)
    i = r.integers(-1000, 1000, 700).astype(np.int32)
    yield Case(cumulative, {"x": i, "out": np.zeros_like(i), "n": 700}, {"BLOCK": 1024}, (1, 1), np.cumsum(i), 0)
    i = r.integers(-1000, 1000, 512).astype(np.int32)
    yield Case(ordered, {"x": i, "out": np.zeros_like(i)}, {"BLOCK": 512}, (1, 1), np.sort(i), 0)
    i = r.integers(0, 1 << 20, 900).astype(np.int32)
    yield Case(histogram, {"x": i, "counts": np.zeros(32, np.int32), "n": 900}, {"BLOCK": 256}, (4, 1),
               np.bincount(i & 31, minlength=32), 0)
    t = f(64, 32)
    yield Case(transpose, {"x": t, "out": np.zeros((32, 64), np.float32)}, {"M": 64, "N": 32}, (1, 1), t.T, 0)


def run(case, target, tilewright, folder):
    wave = 64 if target.startswith("gfx9") else 32
    source = ASTSource(fn=case.kernel, signature=case.signature(), constexprs=case.constants)
    compiled = triton.compile(source, target=GPUTarget("hip", target, wave), options={"num_warps": 4})
    metadata = compiled.metadata
    (folder / "k.hsaco").write_bytes(compiled.asm["hsaco"])
    words, output = [], None
    for name, value in case.arguments.items():
        if isinstance(value, np.ndarray):
            value.tofile(folder / f"{name}.bin")
            words.append(f"buf:{folder / name}.bin")
            output = name if not value.any() else output
        else:
            words.append(f"{'f32' if isinstance(value, float) else 'i32'}:{value}")
    command = [tilewright, "exec", folder / "k.hsaco", metadata.name, "--device", "emu", "--json", "--profile",
               "--grid", f"{case.grid[0]},{case.grid[1]}", "--block", str(metadata.num_warps * wave),
               "--dynamic-lds", str(metadata.shared), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return "report", done.stderr.strip()
    was = case.arguments[output]
    got = np.fromfile(folder / f"{output}.bin", was.dtype).reshape(was.shape).astype(np.float64)
    error = np.abs(got - case.expected).max()
    counts = json.loads(done.stdout)
    note = f"{counts['instructions']} instructions, {counts['matrix']} matrix, error {error:.2g}"
    return ("passed" if error <= case.tolerance else "wrong"), note


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilewright", default="tilewright")
    parser.add_argument("--kernel", help="only this one")
    parser.add_argument("targets", nargs="*", default=TARGETS)
    options = parser.parse_args()
    failed = 0
    for target in options.targets:
        for case in cases():
            name = case.kernel.fn.__name__
            if options.kernel and options.kernel != name:
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    result, note = run(case, target, options.tilewright, pathlib.Path(folder))
                except Exception as error:  # Triton's compiler has many of its own
                    result, note = "no code", str(error).strip().splitlines()[-1]
            failed += result != "passed"
            print(f"{target:8} {name:12} {result:8} {note}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
