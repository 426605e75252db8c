"""LASER's sentence encoders."""
