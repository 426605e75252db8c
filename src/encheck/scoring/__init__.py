"""From similarities to scores: calibration, search, and the typed frame of items."""
