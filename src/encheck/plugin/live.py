"""The fixture `encoder`: the models that --encheck-model names, for tests of people's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from encheck.errors import EncheckError
from encheck.options import models_of
from encheck.plugin.process import Process, settings_of

if TYPE_CHECKING:
    from encheck.running.service import EncoderService

FIXTURE, MODEL = "encoder", "encheck_model"
WARM = "The harbour lay quiet."  # encoded before the first test, so that none has to wait for the weights


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for the model once for each one that is named."""
    if MODEL in metafunc.fixturenames and len(models := models_of(metafunc.config.option)) > 1:
        metafunc.parametrize(MODEL, models, indirect=True, scope="session")


def spare(item: pytest.Item) -> None:
    """Lift hypothesis's deadline from a test that asks for the model, so that a slow one does not fail for it."""
    if MODEL in getattr(item, "fixturenames", ()) and getattr(item.obj, "is_hypothesis_test", False):  # type: ignore[attr-defined]
        from encheck.strategies.patience import patient

        patient(item.obj)  # type: ignore[attr-defined]


def name_of(request: pytest.FixtureRequest) -> str:
    """The model of this test."""
    given: str = getattr(request, "param", "")
    return given or models_of(request.config.option)[0]


def opened(config: pytest.Config, process: Process, name: str) -> EncoderService:
    """The model of this name, loaded; the test fails with one message where it is not there or does not compute."""
    from encheck.encoders.protocol import PartialEncoder
    from encheck.running.labels import labels
    from encheck.running.resources import open_store, resolve_models
    from encheck.running.service import EncoderService

    try:
        settings = settings_of(config, process.store)
        store = open_store(settings)
        label = next(label for label, spec in labels(settings.models).items() if spec == name)
        service = EncoderService(resolve_models(settings, store)[label], store).as_fixture()
        if not isinstance(service.model, PartialEncoder):
            service.similarity(WARM, WARM)
    except EncheckError as error:
        pytest.fail(f"encheck: {error}", pytrace=False)
    return service
