"""The depth map: the table beside it, and the picture pixel by pixel."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from residual_stream import depth_map, run
from residual_stream.model.arithmetic import number

UNTIL = "drawn"
SLATE, GREEN, RED = "#475569", "#15803d", "#b91c1c"
DARK = {SLATE: "#94a3b8", GREEN: "#4ade80", RED: "#f87171"}
WORDS = ("by", "the", "river", "bank")


@pytest.fixture(scope="module")
def maps(example):
    """What Python says of each word's depth map, at every depth, on and off."""
    return {
        (depth, residual, token): depth_map(run(example, depth, residual), token)
        for depth in range(1, 13)
        for residual in (True, False)
        for token in range(4)
    }


TABLES = """async ({states, selector}) => {
  const {root, store, settle} = await ResidualStream.page;
  return states.map((state) => {
    store.set(state, "test");
    settle();
    return [...root.querySelectorAll(`${selector} tbody tr:not([hidden])`)]
      .map((row) => [...row.cells].map((cell) => cell.textContent));
  });
}"""


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_table_says_what_the_trace_says_at_every_depth(page_at, maps, ui, language):
    lesson = page_at(f"?lang={language}")
    states = [
        {"depth": depth, "residual": residual, "token": token}
        for depth, residual, token in maps
    ]
    asked = {"states": states, "selector": "#map > .depth-map"}
    seen = lesson.page.evaluate(TABLES, asked)
    say = lambda key: ui[key][language]  # noqa: E731
    for rows, (place, drawn) in zip(seen, maps.items(), strict=True):
        shows = say("so_far" if place[1] else "latest")
        first = [say("map_x0"), number(drawn.x0_length), say("ribbon")]
        bars = [[str(bar.block), number(bar.length), shows] for bar in drawn.bars]
        assert rows == [first, *bars], place


def test_in_compare_mode_there_are_two_tables_one_each_way(page_at, maps):
    lesson = page_at("?compare=1&depth=4")
    for nth, residual in enumerate((True, False), 1):
        selector = f".maps-pair > .depth-map:nth-child({nth})"
        asked = {"states": [{}], "selector": selector}
        (rows,) = lesson.page.evaluate(TABLES, asked)
        lengths = [number(bar.length) for bar in maps[4, residual, 3].bars]
        assert [row[1] for row in rows[1:]] == lengths
        group = lesson.page.get_by_role(
            "group", name="Residual on" if residual else "Residual off", exact=True
        )
        expect(group).to_be_visible()


def test_the_table_can_be_seen_by_everybody(page_at):
    lesson = page_at()
    lesson.page.locator("#map > .depth-map summary").click()
    table = lesson.page.locator("#map > .depth-map table")
    expect(table).to_be_visible()
    box = table.bounding_box()
    assert box["height"] > 60
    assert box["width"] > 100


# --------------------------------------------------------------------- the picture


class Picture:
    """The map's frame as pixels, with the place of each block's column."""

    def __init__(self, lesson, scope="#map > .depth-map", dark=False) -> None:
        stage = lesson.page.locator(f"{scope} .depth-map-stage")
        stage.scroll_into_view_if_needed()
        lesson.page.evaluate(PAINTED)
        self.pixels = np.asarray(
            Image.open(io.BytesIO(stage.screenshot())).convert("RGB")
        ).astype(int)
        left = stage.bounding_box()["x"]
        buttons = lesson.page.locator(f"{scope} .depth-map-blocks button:visible")
        boxes = [button.bounding_box() for button in buttons.all()]
        self.centres = [b["x"] + b["width"] / 2 - left for b in boxes]
        self.dark = dark

    def mask(self, colour: str) -> np.ndarray:
        colour = DARK[colour] if self.dark else colour
        wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        return np.abs(self.pixels - wanted).max(axis=-1) <= 24

    def runs_up(self, colour: str, foot: float) -> np.ndarray:
        """For each column of pixels: how far a colour goes up from a foot, unbroken."""
        mask = self.mask(colour)
        row = min(int(foot) + 2, len(mask) - 1)
        going, height = np.ones(mask.shape[1], bool), np.zeros(mask.shape[1])
        for up in range(row, -1, -1):
            # the line that closes a bar or the ribbon may begin a pixel or two higher
            going &= mask[up] | ((height == 0) & (up > row - 5))
            height += going & mask[up]
        return height

    def ground(self) -> int:
        return int(np.flatnonzero(self.mask(SLATE)[:, :40].any(axis=1))[-1])

    def bars(self, colour: str) -> list[float]:
        """Each block's height: its outline is one line of colour from foot to top."""
        on_ribbon = self.ribbon()[0] if colour == GREEN else 0
        runs = self.runs_up(colour, self.ground() - on_ribbon)
        reach = min(np.diff(self.centres), default=2 * 40) / 2
        return [
            runs[max(0, int(c - reach)) : int(c + reach)].max() for c in self.centres
        ]

    def ribbon(self) -> tuple[float, int]:
        """The slate ribbon's height, and how far to the right it comes."""
        runs = self.runs_up(SLATE, self.ground())
        end = np.flatnonzero(self.mask(SLATE).sum(axis=0) >= 3).max()
        return np.median(runs[8:40]), int(end)


# Bokeh paints in the next frame or the one after
PAINTED = """async () => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}"""


@pytest.mark.parametrize(
    ("depth", "token"), [(3, "bank"), (1, "bank"), (6, "river"), (12, "bank")]
)
def test_the_picture_is_the_table_to_scale(page_at, maps, depth, token):
    """C8 and D1: ribbon and bars on one scale, on and off, two pixels at most apart."""
    lesson = page_at(f"?depth={depth}&token={token}&step={2 + 6 * depth}")
    on = maps[depth, True, WORDS.index(token)]
    off = maps[depth, False, WORDS.index(token)]
    picture = Picture(lesson)
    height, end = picture.ribbon()
    unit = height / on.x0_length
    assert unit > 10
    close = {"abs": 2 + 2 / on.x0_length}
    assert picture.bars(GREEN) == pytest.approx(
        [bar.length * unit for bar in on.bars], rel=0.03, **close
    )
    assert picture.mask(RED).sum() == 0
    assert end >= picture.pixels.shape[1] - 4

    lesson.put(residual=False)
    cut = Picture(lesson)
    height, end = cut.ribbon()
    assert height == pytest.approx(on.x0_length * unit, abs=2)
    assert end < cut.centres[0] - 10
    assert cut.bars(RED) == pytest.approx(
        [bar.length * unit for bar in off.bars], rel=0.03, **close
    )
    assert cut.mask(GREEN).sum() == 0


def test_the_bars_stand_on_the_ribbon_and_when_cut_on_the_ground(page_at):
    lesson = page_at("?step=20")
    for residual, colour in ((True, GREEN), (False, RED)):
        lesson.put(residual=residual)
        picture = Picture(lesson)
        height, _ = picture.ribbon()
        ground = np.flatnonzero(picture.mask(SLATE).any(axis=1)).max()
        feet = [
            np.flatnonzero(picture.mask(colour)[:, int(c) - 10 : int(c) + 10].any(1))
            for c in picture.centres
        ]
        foot = ground - height if residual else ground
        for rows in feet:
            assert rows.max() == pytest.approx(foot, abs=3)


def test_the_pair_of_maps_shows_both_on_one_scale(page_at, maps):
    lesson = page_at("?compare=1&step=20")
    on, off = (
        Picture(lesson, f".maps-pair > .depth-map:nth-child({n})") for n in (1, 2)
    )
    lengths = {r: [bar.length for bar in maps[3, r, 3].bars] for r in (True, False)}
    units = np.concatenate(
        [
            np.divide(on.bars(GREEN), lengths[True]),
            np.divide(off.bars(RED), lengths[False]),
        ]
    )
    assert units == pytest.approx(np.full(6, units[2]), rel=0.06)
    assert on.ribbon()[1] > on.centres[-1] > on.centres[0] > off.ribbon()[1]


def test_the_dark_theme_draws_the_same_map_in_its_own_colours(page_at):
    lesson = page_at("?step=20")
    light = Picture(lesson)
    lesson.page.get_by_role("combobox", name="Theme").select_option("dark")
    dark = Picture(lesson, dark=True)
    assert dark.bars(GREEN) == pytest.approx(light.bars(GREEN), abs=1)
    assert dark.ribbon() == pytest.approx(light.ribbon(), abs=1)


# the map's bold texts, each with its place: block 1 stands at 1
BOLD = """() => {
  const texts = Bokeh.documents.flatMap((one) => [...one._all_models.values()])
    .find((one) => one.name === "texts" && one.data_source.data.text.length > 1);
  const {text, style, x} = texts.data_source.data;
  return text.map((word, i) => [word, style[i], x[i]])
    .filter(([, style]) => style === "bold").slice(1).map(([word, , x]) => [word, x]);
}"""


# how strong the bars of a setting are within their outlines
STRENGTH = """(name) => Bokeh.documents.flatMap((one) => [...one._all_models.values()])
  .find((one) => one.name === name && one.data_source.data.alpha.length > 1)
  .data_source.data.alpha.map((alpha) => alpha === 1)"""


def test_blocks_that_have_not_ended_are_pale_within_their_outline(page_at):
    """The word is on the last that has; at the input there is none."""
    lesson = page_at("?step=20")
    for residual, colour, name in ((True, GREEN, "so_far"), (False, RED, "latest")):
        lesson.put(residual=residual, step=20)
        whole = Picture(lesson).bars(colour)
        for step, done in ((1, 0), (6, 0), (7, 1), (18, 2), (19, 3), (20, 3)):
            lesson.put(step=step)
            seen = lesson.page.evaluate(STRENGTH, name)
            assert seen == [block <= done for block in (1, 2, 3)], step
            assert Picture(lesson).bars(colour) == pytest.approx(whole, abs=2), step
            said = "all corrections so far" if residual else "latest output"
            words = [[said, pytest.approx(done, abs=0.2)]] if done else []
            assert lesson.page.evaluate(BOLD) == words, step


# ------------------------------------------------- the page stands still at the switch

# at each state of a walk: what the switch moves there
FLIPPED = """async (walk) => {
  const {store, settle} = await ResidualStream.page;
  const places = () => [...document.querySelectorAll(
      ".masthead *, .chapters *, #step, #step > *, #block, #map, #map button, "
      + ".depth-map-stage, .depth-map-caption, .inside, #sum, #sum tr, #reading, "
      + ".dock *, .settings *")]
    .filter((part) => part.checkVisibility() && !part.matches(".switch-knob"))
    .map((part) => {
      const {x, y, width, height} = part.getBoundingClientRect();
      const place = [x, y, width, height].map((value) => Math.round(value));
      return [part.tagName, part.id, ...place].join(" ");
    });
  return walk.flatMap((state) => {
    store.set({...state, residual: true}, "test");
    settle();
    const before = places();
    store.set({residual: false}, "test");
    settle();
    const after = places();
    const pairs = before.map((place, i) => [place, after[i]]);
    const apart = pairs.filter(([a, b]) => a !== b);
    const same = apart.length === 0 && before.length === after.length;
    return same ? [] : [[state, before.length - after.length, ...apart.slice(0, 2)]];
  });
}"""
WIDTHS = {"wide": 1280, "tablet": 820, "phone": 390}


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_flipping_the_switch_moves_nothing_on_the_page(page_at, width):
    """In both languages no part moves by a pixel, at every step (a tablet: at six)."""
    lesson = page_at("?step=4", viewport={"width": width, "height": 900})
    steps = range(1, 21) if width != WIDTHS["tablet"] else (1, 3, 4, 7, 13, 20)
    walk = [{"language": lang, "step": n} for lang in ("en", "ja") for n in steps]
    moved = lesson.page.evaluate(FLIPPED, walk)
    assert not moved, moved


# where a text's letters stand, the dock begins, and the row of block numbers ends
LINES = """() => {
  const foot = (part) => {
    const probe = document.createElement("span");
    Object.assign(probe.style, {display: "inline-block", width: "0", height: "0"});
    part.append(probe);
    const {bottom} = probe.getBoundingClientRect();
    probe.remove();
    return bottom;
  };
  const box = (part) => document.querySelector(part).getBoundingClientRect();
  const word = document.querySelector(".depth-map-key li > :last-child");
  return [foot(document.querySelector(".maps > h2")), foot(word),
    box(".depth-map-blocks").bottom, box(".dock").top];
}"""


@pytest.mark.parametrize("language", ["en", "ja"])
def test_on_a_laptop_the_whole_map_stands_above_the_controls(page_at, language):
    """Title and key on one line above it, and the blocks' numbers below it."""
    size = {"width": 1280, "height": 800}
    lesson = page_at(f"?step=4&lang={language}", until="text", viewport=size)
    title, key, numbers, dock = lesson.page.evaluate(LINES)
    assert key == pytest.approx(title, abs=0.6)
    assert numbers <= dock


# --------------------------------------------------------------- going to a block


def test_a_block_on_the_map_leads_to_its_last_add(page_at):
    lesson = page_at("?depth=4")
    block = lesson.region("Depth map").get_by_role("button", name="Block 3", exact=True)
    block.click()
    assert lesson.state()["step"] == 19
    expect(block).to_have_attribute("aria-current", "step")
    lesson.region("Depth map").get_by_role("button", name="Block 1", exact=True).focus()
    lesson.page.keyboard.press("Enter")
    assert lesson.state()["step"] == 7
    lesson.page.keyboard.press("Tab")
    lesson.page.keyboard.press("Space")
    assert lesson.state()["step"] == 13


def test_a_click_into_the_picture_goes_to_the_block_under_the_pointer(page_at):
    lesson = page_at()
    stage = lesson.page.locator("#map > .depth-map .depth-map-stage")
    picture = Picture(lesson)
    for block, centre in enumerate(picture.centres, 1):
        stage.click(position={"x": centre, "y": 60})
        assert lesson.state()["step"] == 1 + 6 * block
    stage.click(position={"x": 4, "y": 60})  # the entrance is no block
    assert lesson.state()["step"] == 19


def test_pointing_at_a_block_tells_its_numbers(page_at, maps):
    lesson = page_at()
    button = lesson.region("Depth map").get_by_role(
        "button", name="Block 2", exact=True
    )
    button.hover()
    tip = lesson.page.locator("#map > .depth-map .depth-map-tip")
    length = number(maps[3, True, 3].bars[1].length)
    expect(tip).to_contain_text("Block 2")
    expect(tip).to_contain_text(f"all corrections so far: length {length}")
    lesson.page.keyboard.press("Escape")
    lesson.page.mouse.move(0, 0)
    expect(tip).to_be_hidden()


def test_the_marker_goes_forward_step_by_step_and_the_block_is_marked(page_at):
    lesson = page_at()
    marker = lesson.page.locator("#map > .depth-map .depth-map-marker")
    current = lesson.page.locator("#map > .depth-map [aria-current=step]")
    places = []
    for step in range(1, 21):
        lesson.put(step=step)
        moved = marker.evaluate("e => new DOMMatrix(getComputedStyle(e).transform).e")
        places.append(moved)
        block = {1: [], 20: ["3"]}.get(step, [str((step + 4) // 6)])
        assert current.all_text_contents() == block
    assert places == sorted(set(places))
