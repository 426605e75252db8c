"""Fresh probes, `--data probes:fresh=SEED`: groups made from certified frames, unpublished until they are made.

`frames.tsv` has sentences with a gap, `forms.tsv` what may stand in the gap and why it keeps or changes the meaning,
`lists.tsv` and `notations` what fills them. No encoder had a say in any of it (docs/probes.md).
"""

from encheck.datasets.fresh.frames import Frame, clause_alone, frames
from encheck.datasets.fresh.groups import filled, groups

__all__ = ["Frame", "clause_alone", "filled", "frames", "groups"]
