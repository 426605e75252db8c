"""Onnx."""
