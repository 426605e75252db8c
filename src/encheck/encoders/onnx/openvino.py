"""The same bare .onnx and tokenizer.json, run by OpenVINO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from encheck.encoders.batching import threads
from encheck.encoders.onnx.batches import Floats, Inputs
from encheck.encoders.onnx.encoder import OnnxEncoder, said
from encheck.encoders.onnx.outputs import Dimension, Output
from encheck.errors import EncoderError


class OpenVinoEncoder(OnnxEncoder):
    """In fp32 on the CPU; OpenVINO would compute in bf16 where the processor can."""

    engine = "openvino-2"

    @property
    def devices(self) -> list[str]:
        """The CPU."""
        return ["cpu"]

    @cached_property
    def graph(self) -> Any:
        """The model, read."""
        import openvino

        try:
            return openvino.Core().read_model(str(self.file))
        except Exception as error:
            raise EncoderError(said(self.file, "OpenVINO", str(error))) from error

    @cached_property
    def session(self) -> Any:
        """The model, compiled."""
        import openvino

        how = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads()}
        try:
            return openvino.Core().compile_model(self.graph, "CPU", how)
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(said(self.file, "OpenVINO", str(error))) from error

    @cached_property
    def inputs(self) -> dict[str, tuple[Dimension, ...] | None]:
        """The names of the inputs; what varies has no name here."""
        return {one.any_name: None for one in self.session.inputs}

    @property
    def outputs(self) -> list[Output]:
        """What the graph gives."""
        every = [(one.any_name, one.element_type, _shape(one.partial_shape)) for one in self.session.outputs]
        return [Output(name, kind.get_type_name(), kind.is_real(), shape) for name, kind, shape in every]

    def takes(self, token: int, names: Sequence[str]) -> bool:
        """Whether the table that is looked up with input_ids has such a row: OpenVINO reads on beyond its end."""
        nodes = list(_users(self.graph.input("input_ids"))) if "input_ids" in names else []
        tables = [node.input(0).get_partial_shape()[0] for node in nodes if node.get_type_name() == "Gather"]
        return all(token < rows.get_length() for rows in tables if rows.is_static)

    def infer(self, inputs: Inputs, output: str) -> Floats:
        """One output for one batch."""
        return np.array(self.session(inputs)[self.session.output(output)], np.float32)


def _shape(shape: Any) -> tuple[Dimension, ...] | None:
    if shape.rank.is_dynamic:
        return None
    return tuple(size.get_length() if size.is_static else None for size in shape)


def _users(output: Any) -> Iterator[Any]:
    """The operators that take an output, also where it is converted to another type of number first."""
    for use in output.get_target_inputs():
        node = use.get_node()
        yield from _users(node.output(0)) if node.get_type_name() == "Convert" else [node]
