"""A page of a live class in a browser."""

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


class Somebody(LessonPage):
    """A page of the class, in a browser of its own."""

    @property
    def line(self):
        return self.page.locator(".class-line")

    def greeted(self) -> None:
        """The server has said who this is."""
        expect(self.page.locator(".class-bar:not(.is-away)")).to_be_visible()

    def reload(self) -> None:
        self.page.reload(wait_until="commit")
        self.wait("text")
        self.greeted()

    def sees(self, **wanted) -> None:
        assert self.page.evaluate(SEES, wanted) == wanted

    def bar(self, name: str):
        return self.region("Class").get_by_role("button", name=name, exact=True)

    def vote(self, option: str) -> None:
        self.page.check(f"input[type=radio][value={option}]")

    def bars(self) -> list[str]:
        visible = ".class-votes:not([hidden]) .class-votes-text"
        return self.texts(visible)
