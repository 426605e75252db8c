"""The report and the comparison in a real browser: they load without a word in the console, and do what they offer."""

from dataclasses import asdict, replace

import numpy as np
import pytest
from test_reporting import HOSTILE, row
from test_reporting import results as results_of

from encheck.reporting.html import page as html
from encheck.scoring.item import ItemFrame, TextColumns
from encheck.scoring.triplets import TRIPLET
from encheck.types import Declaration

SIZE = {"width": 1280, "height": 900}


@pytest.fixture
def opened(chromium, tmp_path):
    """Open a page from disk; what it says in the console fails the test at the end."""
    said = []

    def open_page(text, *, name="report.html", **options):
        (tmp_path / name).write_text(text, "utf-8")
        page = chromium.new_page(viewport=SIZE, **options)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda asked: said.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else 0,
        )
        page.goto((tmp_path / name).as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    assert said == []


def items(case, count, *, model="m"):
    near = TextColumns(
        tuple(f"sentence {i} walks \U0001f600 home fast" for i in range(count)), 0.5 + np.arange(count) / count / 3,
        edits=tuple(f'[[{len(f"sentence {i} ")}, {len(f"sentence {i} runs")}, "walks"]]' for i in range(count)),
    )  # fmt: skip
    far = TextColumns(
        tuple(HOSTILE if i % 2 else f"sentence {i} runs \U0001f600 away fast" for i in range(count)),
        np.full(count, 0.6),
    )
    names = tuple(f"d/{i:05x}/x/1/written/0" for i in range(count))
    sources = tuple(f"sentence {i} runs \U0001f600 home fast" for i in range(count))
    clusters, name = tuple(f"c{i}" for i in range(count)), f"{case}/{model}-d-1"
    return {name: ItemFrame(TRIPLET, name, names, sources, near, clusters, ("",) * count, far)}


FAILS = "antonym_is_farther_than_paraphrase"
PASSES = "synonym_is_nearer_than_control"


@pytest.fixture(scope="module")
def text():
    """A report of one failing and one passing check, 60 items each."""
    passing = row(id=f"{PASSES}/m-d-1/margin_rate", check=PASSES, property="synonym", verdict="pass",
                  metric="margin_rate")  # fmt: skip
    said = {"says": "", "title": "", "why": ""}
    claims = {
        FAILS: asdict(Declaration("antonym", "meaning changed")) | said,
        PASSES: asdict(Declaration("synonym", "meaning kept")) | said,
    }
    found = results_of(row(reason=HOSTILE), passing, claims=claims)
    return html.render_run(found, items(FAILS, 60) | items(PASSES, 60))


def open_row(page):
    found = page.locator("details.property", has=page.locator("summary .name", has_text="antonym")).first
    found.locator("summary").first.click()
    found.locator(".example").first.wait_for()
    return found.locator("details.check")


def test_where_it_fails_opens_and_fits_a_phone(opened):
    where = [{"model": "m", "headline": "none of 3", "findings": [
        {"check": FAILS, "on": "d", "kind": HOSTILE, "said": [("it fails", "71% of 58 items")]}
    ]}]  # fmt: skip
    page = opened(html.render_run(results_of(row()), items(FAILS, 3), where=where))
    page.locator("a[href='#where']").click()
    assert page.locator("#where[open] dd").inner_text() == "71% of 58 items"
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_property_opens_in_place_with_its_picture_and_its_worst_items(opened, text):
    page = opened(text)
    assert page.locator("details.property[open]").count() == 0
    check = open_row(page)
    check.locator("svg.drawn").first.wait_for()
    shown = check.locator(".example")
    assert shown.count() == 6
    assert shown.first.locator("dt").all_inner_texts() == ["sentence", "nearer 0.600", "farther 0.500"]
    assert shown.first.locator("del").inner_text() == "runs"
    assert shown.first.locator("ins").inner_text() == "walks"
    assert "encheck show d/00000/x/1/written/0 --model=m" in shown.first.inner_text()


def test_one_picture_is_seen_at_a_time_and_a_switch_changes_it(opened, text):
    page = opened(text)
    check = open_row(page)
    check.locator("svg.drawn").first.wait_for()
    check.locator(".switch button", has_text="similarities").click()
    assert check.locator("figure:visible").count() == 1
    assert check.locator(".switch [aria-pressed=true]").inner_text() == "similarities"


def test_items_are_chosen_by_edit_and_ordered_by_how_typical_they_are(opened):
    found = items(FAILS, 60)
    ((case, frame),) = found.items()
    edits = tuple('[[0, 8, "clause"]]' if i % 3 == 0 else "[]" for i in range(60))
    slices = tuple("news" if i % 2 else "chat" for i in range(60))
    found = {case: replace(frame, far=replace(frame.far, edits=edits), slices=slices)}
    page = opened(html.render_run(results_of(row()), found))
    page.locator(".example").first.wait_for()
    edit = page.get_by_label("edit")
    edit.select_option(index=1)
    assert "20 of 60 items" in page.locator(".items output").inner_text()
    page.get_by_label("slice").select_option("news")
    assert "10 of 60 items" in page.locator(".items output").inner_text()
    page.get_by_label("slice").select_option("")
    edit.select_option("")
    page.get_by_label("order").select_option("typical")
    assert "encheck show d/0001e/" in page.locator(".example").first.inner_text()  # the middle of sixty margins


def test_hostile_text_is_shown_as_text(opened, text):
    page = opened(text)
    open_row(page)
    shown = page.locator(".example").nth(1).inner_text()
    assert "<script>alert(1)</script> \ufffdevil\ufffd" in shown
    assert page.locator("main script").count() == 0


def test_items_are_filtered_by_words_and_by_what_went_wrong(opened, text):
    page = opened(text)
    check = open_row(page)
    check.locator("button", has_text="show more").click()
    assert check.locator(".example").count() == 12
    check.locator("input[type=search]").fill("sentence 7 ")
    assert check.locator(".example").count() == 1
    check.locator("input[type=search]").fill("")
    check.locator("input[type=checkbox]").check()
    assert "19 of 60" in check.locator("output").inner_text()  # 0.5 + i / 180 <= 0.6


def test_properties_are_filtered_by_verdict_and_word_and_sorted_by_weakness(opened, text):
    page = opened(text)
    rows = page.locator("details.property:not([hidden])")
    page.locator(".tools summary").click()
    page.locator("#filters input[value=bad]").uncheck()
    assert rows.count() == 1
    assert "1 of 2" in page.locator("#count").inner_text()
    page.locator("#filters input[value=bad]").check()
    page.locator("#search").fill("synonym control")
    assert "synonym" in rows.inner_text()
    page.locator("#search").fill("")
    page.locator("#weakest").click()
    assert page.locator("#weakest").get_attribute("aria-pressed") == "true"
    assert page.locator(".family").first.locator("details.property").count() == 2
    page.locator("#weakest").click()
    assert page.locator(".family").first.locator("details.property").count() == 1


def test_a_link_opens_its_check_and_all_open_and_close(opened, text):
    page = opened(text)
    page.evaluate("location.hash = document.querySelector('details.check').id")
    page.wait_for_function("document.querySelectorAll('details.property[open]').length === 1")
    page.locator("#unfold").click()
    assert page.locator("details.property[open] details.check[open]").count() == 2
    page.locator("#fold").click()
    assert page.locator("details.property[open], details.check[open]").count() == 0


def test_dark_mode_follows_the_system_and_the_button(opened, text):
    page = opened(text, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.locator("#theme").click()
    assert page.evaluate(background) != dark
    page.locator("#unfold").click()
    text_colour = page.locator("svg.drawn text").first.evaluate("e => getComputedStyle(e).fill")
    assert text_colour == DARK_ON_LIGHT


OPEN_CHART = "details[id^=antonym] svg.drawn text"
DARK_ON_LIGHT = "rgb(28, 35, 48)"


def test_what_is_dark_on_the_screen_prints_dark_on_light_with_its_bars(opened, text):
    page = opened(text, color_scheme="dark")
    page.locator("#unfold").click()
    page.locator(OPEN_CHART).first.wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(OPEN_CHART).first.evaluate("e => getComputedStyle(e).fill") == DARK_ON_LIGHT
    assert page.evaluate("getComputedStyle(document.body).color") == DARK_ON_LIGHT
    for mark in ("i", "b"):
        assert page.locator(f".plot-line {mark}").first.evaluate("e => getComputedStyle(e).printColorAdjust") == "exact"


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (360, "light"), (1280, "light"), (1280, "dark")])
def test_people_who_do_not_see_or_point_can_use_it(opened, text, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(text, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("#unfold").click()
    page.locator("svg.drawn").first.wait_for()
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [400, 1280])
def test_several_models_have_a_line_each_and_nothing_scrolls_sideways(opened, width):
    names = ("my-encoder-large-v2", "sentence-encoder-base", "distilled-encoder-multilingual")
    rows = [row(id=f"{FAILS}/{name}-d-{level}/none", model=name, level=level, value=None, low=None, high=None, curve=[],
                metric=None, verdict="skipped", reason="no chains") for name in names for level in "123"]  # fmt: skip
    rows += [row(id=f"{PASSES}/{name}-d-1/margin_rate", check=PASSES, model=name) for name in names]
    found = results_of(*rows, models=[{"label": name} for name in names])
    page = opened(html.render_run(found, {}))
    page.set_viewport_size({"width": width, "height": 800})
    page.locator("#unfold").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_each_row_shows_name_figure_and_verdict(opened, text):
    page = opened(text)
    page.set_viewport_size({"width": 360, "height": 800})
    for summary in page.locator("details.property > summary").all():
        for part in (".name", ".value strong", ".words"):
            box = summary.locator(part).first.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360


def test_the_keyboard_reaches_filters_headings_and_checks(opened, text):
    page = opened(text)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert {"weakest", "SUMMARY", "BUTTON", "theme", "A"} <= reached


def test_it_prints(opened, text):
    page = opened(text)
    page.locator("#unfold").click()
    page.locator("svg.drawn").first.wait_for()
    assert page.pdf()[:5] == b"%PDF-"
    page.emulate_media(media="print")
    assert not page.locator("#filters").is_visible()
    assert page.locator(".property .plot-line").first.is_visible()


def test_without_javascript_figures_and_pictures_are_there_and_the_page_says_what_is_not(chromium, text, tmp_path):
    (tmp_path / "report.html").write_text(text, "utf-8")
    page = chromium.new_page(java_script_enabled=False)
    page.goto((tmp_path / "report.html").as_uri())
    assert "need JavaScript, which is off" in page.inner_text("body")
    page.locator("details.property summary").first.click()
    assert page.locator("details.property[open] details.check[open] svg.drawn").first.is_visible()
    assert not page.locator("#filters").is_visible()


def test_a_hand_made_result_is_a_safe_page(opened):
    names = dict.fromkeys(("check", "property", "level", "reason"), HOSTILE)
    hostile = row(id=f"{HOSTILE}/m-d-1/x", params={HOSTILE: 1.0}, excluded={HOSTILE: 3}, **names)
    page = opened(html.render_run(results_of(hostile), {}))
    assert "<script>alert(1)</script>" in page.inner_text("main")
    assert page.locator("main script").count() == 0


def unfit(page):
    """What axe finds serious, and whether the page scrolls sideways."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
    return serious, page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.long
def test_a_comparison_of_ten_fits_a_screen_and_a_phone(opened, tmp_path):
    from test_compare import write_run

    from encheck.comparing.comparison import compare
    from encheck.comparing.page import render_comparison

    many = [f"a-rather-long-name-of-a-model-{n}" for n in range(10)]
    runs = [write_run(tmp_path / n, [0.9] * (40 - 4 * i) + [0.1] * 4 * i, model=n) for i, n in enumerate(many)]
    page = opened(render_comparison(compare(runs)))
    assert "61%" in page.locator("table.matrix").inner_text()
    assert page.locator(".forest").count() == 9
    assert page.locator(".example").first.is_visible()
    assert unfit(page) == ([], False)
    page.set_viewport_size({"width": 360, "height": 700})
    assert unfit(page) == ([], False)
    page.locator("table.matrix a").first.click()
    page.locator("details[open] table.stack").first.wait_for()
