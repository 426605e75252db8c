"""What reproduces five papers on sentence encoders: their models, beside those of encheck."""
