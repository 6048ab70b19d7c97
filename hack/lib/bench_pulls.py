"""Seconds of real pulls, for hack/bench-carve --pulls: a registry, a proxy that holds each connection to a rate, a
private dockerd, podman with a store of its own, and skopeo, which unpacks nothing."""
import os
import shutil
import socket
import subprocess
import threading
import time

RATE = 40_000_000  # bytes a second, for each connection
SO_MAX_PACING_RATE = 47


class Proxy:
    """Passes connections on; the kernel paces what goes back to the client."""

    def __init__(self, port):
        self.target = port
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.server.accept()
            client.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, RATE)
            server = socket.create_connection(("127.0.0.1", self.target))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    @staticmethod
    def pump(source, sink):
        block = memoryview(bytearray(1 << 20))
        try:
            while count := source.recv_into(block):
                sink.sendall(block[:count])
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            sink.close()


class Registry:
    def __init__(self, directory):
        os.mkdir(directory)
        config, self.log = directory + "/config.yml", directory + "/log"
        with open(config, "w", encoding="utf-8") as file:
            file.write('version: 0.1\nlog: { level: info }\nstorage: { filesystem: { rootdirectory: %s/root } }\n'
                       'http: { addr: "127.0.0.1:0" }\n' % directory)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["docker-registry", "serve", config], stdout=log, stderr=log)
        self.port = wait_for(self.find_port, self.log)

    def find_port(self):
        with open(self.log, encoding="utf-8") as log:
            _, found, rest = log.read().partition("listening on 127.0.0.1:")
        return int(rest.split('"')[0].split()[0]) if found else None

    def push(self, layout, name):
        subprocess.run(["skopeo", "copy", "-q", "--dest-tls-verify=false", "oci:" + layout,
                        "docker://127.0.0.1:%d/bench/%s:1" % (self.port, name)], check=True)

    def stop(self):
        stop(self.process)


class Docker:
    name = "docker"

    def __init__(self, directory):
        os.mkdir(directory)
        self.socket = "unix://" + directory + "/docker.sock"
        with open(directory + "/daemon.json", "w", encoding="utf-8") as file:
            file.write("{}\n")
        words = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 'mkdir -p /etc/docker && mount -t tmpfs none /etc/docker && exec "$@"', "sh", "dockerd",
                 "--config-file", directory + "/daemon.json", "--host", self.socket,
                 "--data-root", directory + "/data", "--exec-root", directory + "/exec",
                 "--pidfile", directory + "/pid", "--storage-driver", "overlay2", "--bridge=none", "--iptables=false",
                 "--ip-forward=false", "--ip-masq=false"]
        with open(directory + "/log", "wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        wait_for(lambda: self.call("version", check=False).returncode == 0 or None, directory + "/log")

    def call(self, *words, check=True):
        return subprocess.run(["docker", "--host", self.socket, *words], check=check, stdout=subprocess.DEVNULL,
                              stderr=None if check else subprocess.DEVNULL)

    def pull(self, image):
        self.call("pull", "--quiet", image)

    def empty(self):
        self.call("image", "prune", "--all", "--force")

    def stop(self):
        stop(self.process)


class Podman:
    name = "podman"

    def __init__(self, directory):
        os.mkdir(directory)
        self.directory = directory

    def call(self, *words):
        subprocess.run(["podman", "--root", self.directory + "/root", "--runroot", self.directory + "/run",
                        "--storage-driver", "overlay", *words], check=True, stdout=subprocess.DEVNULL)

    def pull(self, image):
        self.call("pull", "--quiet", "--tls-verify=false", image)

    def empty(self):
        self.call("rmi", "--all", "--force")

    def stop(self):
        pass


class Skopeo:
    """Fetches into an OCI layout, which keeps the blobs of version 1: what a pull takes without unpacking."""

    name = "skopeo, no unpacking"

    def __init__(self, directory):
        self.directory = directory

    def pull(self, image):
        subprocess.run(["skopeo", "copy", "-q", "--src-tls-verify=false", "docker://" + image,
                        "oci:%s:1" % self.directory], check=True)

    def empty(self):
        shutil.rmtree(self.directory)

    def stop(self):
        pass


def wait_for(condition, log):
    for _ in range(300):
        found = condition()
        if found is not None:
            return found
        time.sleep(0.1)
    with open(log, encoding="utf-8", errors="replace") as file:
        raise SystemExit("it does not start: " + file.read()[-500:])


def stop(process):
    process.terminate()
    process.wait()


def timed(engine, image):
    os.sync()
    start = time.monotonic()
    engine.pull(image)
    return time.monotonic() - start


def measure(directory, versions):
    """versions: [(label, layout of version 1, layout of version 2)]. Yields (label, engine, seconds without anything,
    seconds with version 1)."""
    registry = Registry(directory + "/registry")
    proxy = Proxy(registry.port)
    engines = []
    try:
        for number, (_, first, second) in enumerate(versions):
            registry.push(first, "first-%d" % number)
            registry.push(second, "second-%d" % number)
        engines += [Docker(directory + "/docker"), Podman(directory + "/podman"), Skopeo(directory + "/skopeo")]
        for engine in engines:
            for number, (label, _, _) in enumerate(versions):
                image = "127.0.0.1:%d/bench/%%s-%d:1" % (proxy.port, number)
                cold = timed(engine, image % "second")
                engine.empty()
                engine.pull(image % "first")
                update = timed(engine, image % "second")
                engine.empty()
                yield label, engine.name, cold, update
    finally:
        for started in [*engines, registry]:
            started.stop()
        for name in ("registry", "docker", "podman", "skopeo"):
            shutil.rmtree(directory + "/" + name, ignore_errors=True)
