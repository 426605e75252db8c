"""ONNX Runtime and OpenVINO."""
