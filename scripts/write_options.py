"""Write the table of options into docs/reference/options.md, below its introduction."""

from pathlib import Path

from encheck.options import reference

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/options.md"
START = "<!-- made by scripts/write_options.py -->\n"

if __name__ == "__main__":
    PAGE.write_text(f"{PAGE.read_text('utf-8').partition(START)[0]}{START}\n{reference()}", "utf-8")
