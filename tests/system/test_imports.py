"""nltk without what it imports for its extra `machine_learning`."""

import subprocess
import sys

import pytest

AFTER = """
import sys
{before}
from encheck.system.imports import import_nltk
nltk = import_nltk()
print("sklearn" in sys.modules, "scipy.stats" in sys.modules, nltk is import_nltk())
from nltk.tokenize.destructive import NLTKWordTokenizer
from scipy.stats import norm
from sklearn.feature_extraction import DictVectorizer
print(NLTKWordTokenizer().tokenize("It isn't so."), norm.cdf(0), DictVectorizer.__name__)
"""


@pytest.mark.parametrize(
    ("before", "there"), [("", "False False"), ("import nltk", "True True"), ("import scipy.stats", "False True")]
)
def test_nltk_imports_no_machine_learning_and_leaves_it_to_those_who_want_it(before, there):
    done = subprocess.run([sys.executable, "-c", AFTER.format(before=before)], capture_output=True, text=True)
    assert done.stdout == f"{there} True\n['It', 'is', \"n't\", 'so', '.'] 0.5 DictVectorizer\n", done.stderr
