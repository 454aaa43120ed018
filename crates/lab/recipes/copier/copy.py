"""Copies a tree over NFS or SMB as `cp --archive --update` does on a mount: file by file, each step after the last one.

Use: copy.py SOURCE nfs|smb PATH. It takes the client libraries of file managers and players, libnfs and libsmbclient. A file
that is there already with the same size and time is left as it is. Each call waits for its answer.
"""

import ctypes
import os
import struct
import sys

ADDRESS = "{{address}}"
BLOCK_BYTES = 1 << 20
SIZE_AT, MTIME_AT = 48, 88
"""Where `struct stat` has them on 64-bit x86 and ARM."""


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long)]


def times(seconds):
    return (Time * 2)(Time(seconds, 0), Time(seconds, 0))


class Nfs:
    """Files of an NFSv3 server, which exports them as /data. Writes of version 4 are too short in libnfs 4."""

    class Stat(ctypes.Structure):
        NAMES = "dev ino mode nlink uid gid rdev size blksize blocks atime mtime ctime atime_nsec mtime_nsec ctime_nsec used"
        _fields_ = [(name, ctypes.c_uint64) for name in NAMES.split()]

    def __init__(self):
        self.library = ctypes.CDLL("{{path.libnfs}}")
        self.library.nfs_init_context.restype = ctypes.c_void_p
        self.library.nfs_get_error.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p(self.library.nfs_init_context())
        self.call("nfs_mount", ADDRESS.encode(), b"/data")

    def call(self, name, *arguments):
        if getattr(self.library, name)(self.context, *arguments) < 0:
            sys.exit(f"{name}: {self.library.nfs_get_error(self.context).decode()}")

    def known(self, path):
        stat = self.Stat()
        found = self.library.nfs_stat64(self.context, path.encode(), ctypes.byref(stat))
        return (stat.size, stat.mtime) if found == 0 else None

    def make_folder(self, path):
        self.call("nfs_mkdir", path.encode())

    def write(self, path, blocks, seconds):
        file = ctypes.c_void_p()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        self.call("nfs_open2", path.encode(), flags, 0o644, ctypes.byref(file))
        for block in blocks:
            self.call("nfs_write", file, ctypes.c_uint64(len(block)), block)
        self.call("nfs_close", file)
        self.call("nfs_utimes", path.encode(), times(seconds))


class Smb:
    """Files of an SMB server, which shares them as 'data' with guests."""

    ASK = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)

    def __init__(self):
        self.library = ctypes.CDLL("{{path.libsmbclient}}", use_errno=True)
        self.library.smbc_write.restype = ctypes.c_ssize_t
        # It is asked who this is, and leaves that open: a guest.
        self.ask = self.ASK(lambda *_: None)
        self.call("smbc_init", self.ask, 0)

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result < 0:
            sys.exit(f"{name}: {os.strerror(ctypes.get_errno())}")
        return result

    @staticmethod
    def url(path):
        return f"smb://{ADDRESS}/data{path}".encode()

    def known(self, path):
        stat = ctypes.create_string_buffer(512)
        if self.library.smbc_stat(self.url(path), stat) < 0:
            return None
        return struct.unpack_from("q", stat, SIZE_AT) + struct.unpack_from("q", stat, MTIME_AT)

    def make_folder(self, path):
        self.call("smbc_mkdir", self.url(path), 0o755)

    def write(self, path, blocks, seconds):
        file = self.call("smbc_open", self.url(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for block in blocks:
            self.call("smbc_write", file, block, ctypes.c_size_t(len(block)))
        self.call("smbc_close", file)
        self.call("smbc_utimes", self.url(path), times(seconds))


def blocks_of(path):
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def copy(source, server, target):
    """Copies a folder, and says how many files it has written."""
    written = 0
    if server.known(target) is None:
        server.make_folder(target)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        path = f"{target}/{entry.name}"
        if entry.is_dir():
            written += copy(entry.path, server, path)
            continue
        stat = entry.stat()
        if server.known(path) != (stat.st_size, int(stat.st_mtime)):
            server.write(path, blocks_of(entry.path), int(stat.st_mtime))
            written += 1
    return written


def main():
    source, protocol, target = sys.argv[1:]
    print(copy(source, {"nfs": Nfs, "smb": Smb}[protocol](), target), "files written", flush=True)
    # Neither library is closed: that would wait for nothing that matters.
    os._exit(0)


main()
