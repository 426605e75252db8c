"""The same bare .onnx and tokenizer.json, run by OpenVINO."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from encheck.encoders.onnx import Floats, Inputs, OnnxEncoder, _said
from encheck.errors import EncoderError


class OpenVinoEncoder(OnnxEncoder):
    """In fp32 on the CPU; OpenVINO would compute in bf16 where the processor can."""

    engine = "openvino-1"

    @cached_property
    def session(self) -> Any:
        """The model, compiled."""
        import openvino

        try:
            core = openvino.Core()
            settings = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
            return core.compile_model(core.read_model(str(self.file)), "CPU", settings)
        except Exception as error:
            raise EncoderError(_said(self.file, "OpenVINO", str(error))) from error

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of the inputs and of the outputs."""
        return [i.any_name for i in self.session.inputs], [o.any_name for o in self.session.outputs]

    def infer(self, inputs: Inputs, output: str) -> Floats:
        """One output for one batch."""
        return np.array(self.session(inputs)[self.session.output(output)], np.float32)
