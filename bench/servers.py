"""The servers under load: nginx with one worker and memcached with one thread, on one CPU; sysdyno's built-in target."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from bench import programs
from bench.process import CannotMeasure
from bench.scenarios import HTTP, HTTP2, HTTPS, LARGE_BYTES, MEMCACHED, SMALL_BYTES

NGINX = """
{user}
daemon off;
worker_processes 1;
worker_cpu_affinity {affinity};
worker_rlimit_nofile {descriptors};
pid {prefix}/nginx.pid;
error_log {prefix}/error.log error;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
    open_file_cache max=10 inactive=1h;
    open_file_cache_valid 1h;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    server {{
        listen 127.0.0.1:{http} backlog=4096;
        listen 127.0.0.1:{h2} http2 backlog=4096;
        listen 127.0.0.1:{https} ssl backlog=4096;
        ssl_certificate {prefix}/cert.pem;
        ssl_certificate_key {prefix}/key.pem;
        ssl_protocols TLSv1.3;
        location = / {{ return 200 '{small}'; }}
        location = /large {{ root {prefix}; }}
    }}
}}
"""

# A P-256 key and no extension that makes it an authority: it is trusted as it is, and shown as it is.
CERTIFICATE = """openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost
-addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE""".split()

HOST = "127.0.0.1"
START_SECONDS = 10


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return free.getsockname()[1]


def wait_until_up(name, process, port):
    """Until a server takes connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError as error:
            if time.monotonic() > deadline or process.poll() is not None:
                raise CannotMeasure(f"{name} does not come up") from error
            time.sleep(0.01)


class Nginx:
    """nginx in a folder of its own, gone at the end of the `with` block."""

    def __init__(self, cpu=0, connections=4096):
        self.cpu, self.connections = cpu, connections

    def __enter__(self):
        program = programs.find("nginx")
        if program is None:
            raise CannotMeasure("nginx is not installed\nhint: make bench-tools, as root")
        self.folder = tempfile.TemporaryDirectory(prefix="sysdyno-bench-")
        self.ports = {speaks: free_port() for speaks in (HTTP, HTTPS, HTTP2)}
        self.certificate = f"{self.folder.name}/cert.pem"
        programs.say([*CERTIFICATE, "-keyout", f"{self.folder.name}/key.pem", "-out", self.certificate])
        text = NGINX.format(
            user="user root;" if os.geteuid() == 0 else "",
            affinity=bin(1 << self.cpu)[2:],
            prefix=self.folder.name,
            **self.ports,
            connections=self.connections,
            descriptors=self.connections + 100,
            small="x" * SMALL_BYTES,
        )
        pathlib.Path(self.folder.name, "nginx.conf").write_text(text)
        pathlib.Path(self.folder.name, "large").write_text("x" * LARGE_BYTES)
        arguments = [program, "-p", self.folder.name, "-e", "error.log", "-c", "nginx.conf"]
        self.process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        try:
            wait_until_up("nginx", self.process, self.port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.folder.cleanup()

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return self.ports[HTTP]

    @property
    def url(self):
        return f"http://{HOST}:{self.port}/"


class Memcached:
    """memcached with one thread on one CPU, for the length of the `with` block."""

    certificate = ""

    def __init__(self, cpu=0):
        self.cpu = cpu

    def __enter__(self):
        program = programs.find("memcached")
        if program is None:
            raise CannotMeasure("memcached is not installed\nhint: make bench-tools, as root")
        self.ports = {MEMCACHED: free_port()}
        user = ["-u", "root"] if os.geteuid() == 0 else []
        limits = ["-t", "1", "-m", "256", "-c", "1024", "-U", "0"]
        self.process = subprocess.Popen(
            [program, "-l", HOST, "-p", str(self.ports[MEMCACHED]), *limits, *user],
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {self.cpu}),
        )
        try:
            wait_until_up("memcached", self.process, self.ports[MEMCACHED])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid


class BuiltInTarget:
    """`sysdyno target`, with a listening socket for each of its threads; ends when its standard input does."""

    def __init__(self, program, threads, cpus):
        self.command = [program, "target", "--threads", str(threads), "--body-bytes", str(SMALL_BYTES)]
        self.cpus = cpus

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=programs.environment(),
            preexec_fn=lambda: os.sched_setaffinity(0, set(self.cpus)),
        )
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.__exit__()
            raise CannotMeasure("the built-in target does not come up")
        return self

    def __exit__(self, *_):
        self.process.communicate()

    @property
    def pid(self):
        return self.process.pid
