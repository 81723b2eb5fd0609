"""The exported file in Firefox: a sample of its states, where there is a Firefox."""

import pytest
from test_page_file import EVERY_STEP, WORDS, numbers, shown

from helpers.firefox import executable, with_firefox
from residual_stream import run

SAMPLE = [(3, "on"), (3, "off"), (6, "off"), (12, "on")]

# the depth map, once it is drawn
DRAWN = """async () => {
  const slot = document.querySelector(".depth-map-slot");
  const end = performance.now() + 20000;
  while (slot.classList.contains("is-waiting") && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const {language, residual, token} = (await ResidualStream.page).store.get();
  return [slot.classList.contains("is-waiting"), language, residual, token];
}"""


@pytest.mark.skipif(executable() is None, reason="there is no Firefox on this machine")
def test_a_sample_of_the_file_s_states_is_right_in_firefox(
    offline_file, tmp_path, example
):
    async def walk(tab) -> None:
        await tab.open(f"{offline_file.as_uri()}#step=4&residual=off&lang=en&token=the")
        assert await tab.evaluate(DRAWN) == [False, "en", False, WORDS.index("the")]
        for depth, residual in SAMPLE:
            trace = run(example, depth, residual == "on")
            last = f"blocks.{depth - 1}.resid_post"
            for token in range(len(WORDS)):
                state = {"depth": depth, "token": token, "residual": residual == "on"}
                seen = await tab.evaluate(EVERY_STEP, state)
                assert len(seen) == 2 + 6 * depth
                for step, (count, _, _, shows, total) in enumerate(seen, 1):
                    assert count == f"Step {step} of {2 + 6 * depth}"
                    name = shown(step, depth)
                    assert shows == numbers(trace, residual, name, token)
                    assert total == numbers(trace, residual, last, token)
        assert tab.faults == []

    with_firefox(tmp_path / "profile", walk)
