"""Downstream tasks: a linear model on frozen vectors classifies texts (Conneau and Kiela 2018, SentEval).

Benchmarks publish this accuracy, and people choose models by it. Mahajan et al. (2023) show that a model with a high
accuracy can still take an opposite for a paraphrase. So the report shows the accuracy next to the behaviour, but not as
a part of it.
"""

from encheck import claim
from encheck.items import classified_texts
from encheck.metrics.classification import new_texts_accuracy, task_accuracy

TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")


@claim(
    classified_texts,
    levels=TASKS,
    property="downstream",
    family="downstream",
    metric=task_accuracy,
    show=(new_texts_accuracy,),
    gates="the interval leaves out the variance of the classifier that is trained on the vectors",
    unjudged="a benchmark to read next to the behaviour: no source states which accuracy a sound encoder needs",
    source="Conneau and Kiela 2018; Mahajan et al. 2023, section 3, Table 2",
)
def test_linear_classifier_on_vectors_tells_classes(judge):
    """A logistic regression on the vectors predicts the classes of texts. Its penalty is chosen as in SentEval's
    toolkit.
    """
    judge()
