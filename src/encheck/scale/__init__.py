"""Labelled pairs by the million: read, encoded and scored shard by shard, on one machine or on a Ray cluster."""
