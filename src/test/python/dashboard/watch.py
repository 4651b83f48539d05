"""What a browser says while a test uses it and what must never be: errors of scripts, violations of the content
security policy, files that are missing, answers with 5xx, requests to other hosts, and figures that are no numbers."""

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Page, Request, Response

# Chromium says so of every answer with 4xx, which a form may well get; the watch judges the answers themselves.
NO_ANSWER = "Failed to load resource"
LOOK_MILLISECONDS = 2_000


class Watch:
    """Notes what is wrong in all pages of a context, and which requests got no answer, which may explain it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.wrong: list[str] = []
        self.unanswered: list[str] = []
        self.hosts = {urlsplit(url).netloc}
        self.expects_lost_connection = False
        context.on("page", self._page)
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("requestfailed", self._unanswered)

    def look(self, page: Page) -> None:
        """Notes a figure of the page that can't be computed. A page that is gone has none; the help explains NaN."""
        if "/help/" in page.url:
            return
        try:
            text = page.locator("body").inner_text(timeout=LOOK_MILLISECONDS)
        except Error:
            return
        self.wrong += [f"NaN on the page: {line}" for line in text.splitlines() if "NaN" in line]

    def _page(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.wrong.append(f"error of a script: {error.message}\n{error.stack}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(NO_ANSWER):
            self.wrong.append(f"console, {message.type}: {message.text} ({message.location.get('url')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc not in self.hosts:
            self.wrong.append(f"a request to another host: {request.url}")

    def _response(self, response: Response) -> None:
        of_the_api = urlsplit(response.url).path.startswith("/v1/")
        if response.status >= 500 and not self.expects_lost_connection or response.status >= 400 and not of_the_api:
            self.wrong.append(f"{response.request.method} {response.url}: {response.status}")

    def _unanswered(self, request: Request) -> None:
        self.unanswered.append(f"{request.method} {request.url}: {request.failure}")
