"""Score items: measure similarities, calibrate them, search, and store the results in typed frames."""
