"""The search for constructions that a model gets wrong: `encheck explore` (docs/tasks/explore.md)."""
