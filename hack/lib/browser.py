"""A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol): no port, no library.

    with Browser() as browser:
        page = browser.page(width, height)
        page.open(path)             # a file; returns when it is loaded
        page.run("1 + 1")           # the value of an expression
        page.problems               # console errors, exceptions, requests to other files or hosts
        page.screenshot()           # PNG bytes
        page.pixel(x, y)            # its colour, (red, green, blue); from the page's top left corner
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import zlib

SECONDS = 120  # for any one step, on a busy machine


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="chromium.")
        to_read, self.to = os.pipe()
        self.source, to_write = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_read, to_write), "sh", "chromium",
             "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--user-data-dir=" + self.home,
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.home))
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events = 0, b"", []
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.source], [], [], left)[0]:
                raise RuntimeError("chromium does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise RuntimeError("chromium ended")
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            message = self.receive(deadline)
            if message.get("id") == request["id"]:
                if "error" in message:
                    raise RuntimeError("%s: %s" % (method, message["error"]["message"]))
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def page(self, width, height, dark=False):
        return Page(self, width, height, dark)


class Page:
    def __init__(self, browser, width, height, dark):
        self.browser, self.problems = browser, []
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def open(self, path):
        self.url = "file://" + os.path.abspath(path)
        self.call("Page.navigate", url=self.url)
        deadline = time.monotonic() + SECONDS
        while self.run("document.readyState + location.href") != "complete" + self.url:
            if time.monotonic() > deadline:
                raise RuntimeError("the page does not load")
            time.sleep(0.1)
        self.settle()

    def settle(self):
        """Waits for two frames, so that the layout is done; then raises the problems so far."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        for event in self.browser.events:
            self.notice(event["method"], event.get("params", {}))
        self.browser.events.clear()

    def notice(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.problems.append(params["exceptionDetails"].get("text", "") + " " + str(
                params["exceptionDetails"].get("exception", {}).get("description", "")))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url != self.url and not url.startswith("data:"):
                self.problems.append("asks for " + url)

    def run(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def pixel(self, x, y):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": x, "y": y, "width": 1, "height": 1, "scale": 1})
        png = base64.b64decode(shot["data"])
        at, data = png.index(b"IDAT"), b""
        while png[at:at + 4] == b"IDAT":  # chunks: size, kind, data, checksum (PNG specification, 5.3)
            size = int.from_bytes(png[at - 4:at], "big")
            data += png[at + 4:at + 4 + size]
            at += size + 12
        return tuple(zlib.decompress(data)[1:4])  # one byte for the filter, which changes nothing here

    def screenshot(self):
        shot = self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(shot["data"])
