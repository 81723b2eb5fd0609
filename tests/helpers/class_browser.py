"""A page of a live class in a browser."""

from dataclasses import dataclass

from playwright.sync_api import expect

from conftest import LessonPage

# the page's shared state, once it is as wanted, or what it was in the end
SEES = """async (wanted) => {
  const {store} = await ResidualStream.page;
  const seen = () => Object.fromEntries(
    Object.keys(wanted).map((key) => [key, store.get()[key]]));
  const isThere = () => JSON.stringify(seen()) === JSON.stringify(wanted);
  const end = performance.now() + 15000;
  while (!isThere() && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return seen();
}"""


# all that a page keeps, shows of the class and has of its own; the document too
AS_IT_IS = """async () => {
  const page = await globalThis.ResidualStream?.page;
  if (!page) return null;
  globalThis.born ??= crypto.randomUUID();
  const {language, theme, projector} = page.store.get();
  return {born, language, theme, projector, session: {...sessionStorage},
    local: {...localStorage},
    open: document.querySelectorAll(".class-notice:not([hidden]), dialog[open]").length
  };
}"""


@dataclass
class Somebody(LessonPage):
    """A page of the class, in a browser of its own."""

    came: dict | None = None

    @property
    def line(self):
        return self.page.locator(".class-line")

    def greeted(self) -> None:
        """The server has said who this is."""
        expect(self.page.locator(".class-bar:not(.is-away)")).to_be_visible()

    def stays(self) -> None:
        """Remember what this page is like before a test does anything with it."""
        self.came = self.page.evaluate(AS_IT_IS)

    def is_as_it_came(self) -> bool:
        """Whether nothing but the class's own state has changed here."""
        return self.came is not None and self.page.evaluate(AS_IT_IS) == self.came

    def leave(self) -> None:
        self.came = None
        super().leave()

    def reload(self) -> None:
        self.page.reload(wait_until="commit")
        self.wait("text")
        self.greeted()

    def sees(self, **wanted) -> None:
        assert self.page.evaluate(SEES, wanted) == wanted

    def shows(self, keys) -> dict:
        """The page's own values of some keys of its state."""
        ask = """async (keys) => {
          const state = (await ResidualStream.page).store.get();
          return Object.fromEntries(keys.map((key) => [key, state[key]]));
        }"""
        return self.page.evaluate(ask, [*keys])

    def bar(self, name: str):
        return self.region("Class").get_by_role("button", name=name, exact=True)

    def vote(self, option: str) -> None:
        self.page.check(f"input[type=radio][value={option}]")

    def bars(self) -> list[str]:
        visible = ".class-votes:not([hidden]) .class-votes-text"
        return self.texts(visible)
