"""What people are told of a gate, and what is kept of it."""
