"""Labelled pairs by the million, which are read, encoded and scored shard by shard, on one machine or a Ray cluster."""
