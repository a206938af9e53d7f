"""Networks in .onnx files, computed by onnxruntime on the calling thread.

A file need not be trusted. Before onnxruntime sees it, its size is checked and its messages are walked
(:func:`_check`): only fields that a plain feed-forward network needs are allowed. So a file cannot name other files
(external weights), promise numbers that it does not hold (sparse weights), or repeat itself (functions, loops and other
graphs inside). What its layers ask for while they run is limited by :data:`_MOST_MEMORY`, and it runs once before it is
accepted. onnxruntime is imported with the first network, reports nothing to anybody, and starts no threads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from klss.errors import KlssError
from klss.support.arrays import Float32s, Words
from klss.support.text import printable

MOST_BYTES = 1 << 22
"""Largest file of a network; ours have less than 1 MiB."""

_MOST_MEMORY = 1 << 28
"""Bytes that all networks of a process may use together, with everything between their layers."""

_SHOWN = 160
"""Most characters of onnxruntime's own errors that are shown."""

Shapes = Mapping[str, tuple[int, ...]]


class NetworkError(KlssError, ValueError):
    """A file is not a network, not one that may be read, or one for something else."""


class Network:
    """A network with fixed shapes, from the ``content`` of an .onnx file. Several threads may run it at once.

    ``inputs`` and ``outputs`` are the names and shapes, all of float32, that it must have. Raises NetworkError, of one
    line: it is something else, or does not run.
    """

    def __init__(self, content: bytes, inputs: Shapes, outputs: Shapes) -> None:
        if len(content) > MOST_BYTES:
            raise NetworkError(f"bad network: got {len(content)} bytes, expected at most {MOST_BYTES}")
        _check(memoryview(content), "model")
        onnxruntime = _onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        for key, value in (("session.load_model_format", "ONNX"), ("session.use_env_allocators", "1")):
            options.add_session_config_entry(key, value)
        self._outputs, self._batch = list(outputs), next(iter(inputs.values()))[0]
        try:
            self._session = onnxruntime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"],
                disabled_optimizers=["ConstantFolding"],  # it would run layers without the limit on memory
            )  # fmt: skip
            for held, wanted in ((self._session.get_inputs(), inputs), (self._session.get_outputs(), outputs)):
                found = {each.name: tuple(each.shape) for each in held if each.type == "tensor(float)"}
                if found != dict(wanted) or len(held) != len(wanted):
                    raise NetworkError(f"bad network: got one with {found}, expected {dict(wanted)}")
            once = self.run(**{name: np.zeros(shape, dtype=np.float32) for name, shape in inputs.items()})
        except NetworkError:
            raise
        except Exception as error:  # onnxruntime's have no other base
            raise NetworkError(f"bad network: {printable(str(error), _SHOWN)}") from None
        if [array.shape for array in once] != list(outputs.values()) or not all(np.isfinite(one).all() for one in once):
            raise NetworkError("bad network: got other shapes than promised, or numbers that are not finite")

    def run(self, **inputs: Float32s) -> list[Float32s]:
        """Return the outputs in the order in which they were asked for."""
        return list(self._session.run(self._outputs, inputs))

    def run_bits(self, planes: Words) -> list[Float32s]:
        """Return the outputs for planes of 8 × 8 bits (uint64[n, p]), the network's only input, in batches of its size.
        The last one is filled up with zeros: then on one machine the result for a row is the same to the last bit,
        whatever else is asked and however many threads there are.
        """
        count, size = len(planes), self._batch
        filled = np.pad(planes, ((0, -count % size or (0 if count else size)), (0, 0)))
        parts = [self.run(planes=grids_of(filled[at : at + size])) for at in range(0, len(filled), size)]
        return [np.concatenate(part)[:count] for part in zip(*parts, strict=True)]


def grids_of(words: Words) -> Float32s:
    """Return planes of bits (uint64[n, p]) as numbers: float32[n, p, 8, 8]."""
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8).reshape(*words.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little").reshape(*words.shape, 8, 8).astype(np.float32)


def history_of(content: bytes) -> dict[str, Any]:
    """Return how the weights of one of our .onnx files were made; empty if it does not say."""
    session = _onnxruntime().InferenceSession(content, providers=["CPUExecutionProvider"])
    return dict(json.loads(session.get_modelmeta().custom_metadata_map.get("history", "{}")))


@cache
def _onnxruntime() -> Any:
    """Return onnxruntime, silent and with a limit on its memory."""
    # Its own packages send what they run to their maker, over a thread and a file in the user's cache, unless they are
    # told not to before they are imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(4)
    kind = onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR
    memory = onnxruntime.OrtMemoryInfo("Cpu", kind, 0, onnxruntime.OrtMemType.DEFAULT)
    arena = onnxruntime.OrtArenaCfg({"max_mem": _MOST_MEMORY, "arena_extend_strategy": 1})  # 1: no more than asked for
    onnxruntime.create_and_register_allocator(memory, arena)
    return onnxruntime


_FIELDS: dict[str, dict[int, str | None]] = {
    # versions, producer, graph, operator sets, the weights' history
    "model": {1: None, 2: None, 3: None, 7: "graph", 8: None, 14: None},
    "graph": {1: "node", 2: None, 5: "weights", 11: None, 12: None},  # nodes, name, weights, inputs, outputs
    "node": {1: None, 2: None, 3: None, 4: None, 5: "attribute"},  # inputs, outputs, name, operator, attributes
    "attribute": {1: None, 2: None, 3: None, 8: None, 20: None},  # name, a number, an integer, integers, type
    "weights": {1: None, 2: None, 8: None, 9: None},  # shape, type, name, bytes
}
"""Numbers of the fields that a file may have, by message, and the messages inside that are checked too. Source:
``onnx.proto`` of the ONNX project.
"""


def _check(message: memoryview, kind: str) -> None:
    """Refuse a message in the format of Protocol Buffers that has other fields than :data:`_FIELDS`."""
    at = 0

    def number() -> int:
        nonlocal at
        found, shift = 0, 0
        while shift < 64:
            if at >= len(message):
                break
            byte, at = message[at], at + 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
        raise NetworkError("bad network: got no whole .onnx file")

    while at < len(message):
        field, wire = divmod(number(), 8)
        if field not in _FIELDS[kind] or wire not in (0, 2, 5):
            raise NetworkError(f"bad network: got field {field} of a {kind}, expected a plain .onnx file")
        if wire == 0:
            number()
            continue
        size = number() if wire == 2 else 4
        inner, at = message[at : at + size], at + size
        if at > len(message):
            raise NetworkError("bad network: got no whole .onnx file")
        within = _FIELDS[kind][field]
        if within is not None:
            _check(inner, within)
