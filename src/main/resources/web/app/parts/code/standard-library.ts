/**
 * The modules of Python's standard library from 3.9 on, as of `sys.stdlib_module_names`: "tomllib+3.11" came with that
 * version, and "cgi-3.13" has gone with it.
 */
const MODULES = `
__future__ __main__ _thread abc aifc-3.13 annotationlib+3.14 antigravity argparse array ast asynchat-3.12 asyncio
asyncore-3.12 atexit audioop-3.13 base64 bdb binascii binhex-3.11 bisect builtins bz2 cProfile calendar cgi-3.13
cgitb-3.13 chunk-3.13 cmath cmd code codecs codeop collections colorsys compileall compression+3.14 concurrent
configparser contextlib contextvars copy copyreg crypt-3.13 csv ctypes curses dataclasses datetime dbm decimal difflib
dis distutils-3.12 doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
formatter-3.10 fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
hmac html http idlelib imaplib imghdr-3.13 imp-3.12 importlib inspect io ipaddress itertools json keyword lib2to3-3.13
linecache locale logging lzma mailbox mailcap-3.13 marshal math mimetypes mmap modulefinder msilib-3.13 msvcrt
multiprocessing netrc nis-3.13 nntplib-3.13 nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev-3.13
parser-3.10 pathlib pdb pickle pickletools pipes-3.13 pkgutil platform plistlib poplib posix posixpath pprint profile
pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter
runpy sched secrets select selectors shelve shlex shutil signal site smtpd-3.12 smtplib sndhdr-3.13 socket socketserver
spwd-3.13 sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess
sunau-3.13 symbol-3.10 symtable sys sysconfig syslog tabnanny tarfile telnetlib-3.13 tempfile termios textwrap this
threading time timeit tkinter token tokenize tomllib+3.11 trace traceback tracemalloc tty turtle turtledemo types
typing unicodedata unittest urllib uu-3.13 uuid venv warnings wave weakref webbrowser winreg winsound wsgiref
xdrlib-3.13 xml xmlrpc zipapp zipfile zipimport zlib zoneinfo`;

const PARTS = /^(\w+?)(?:([+-])(3\.\d+))?$/;

const known = new Map(
  MODULES.trim()
    .split(/\s+/)
    .map((entry) => {
      const [, name = "", sign, version] = PARTS.exec(entry) ?? [];
      return [name, { since: sign === "+" ? version : undefined, until: sign === "-" ? version : undefined }];
    }),
);

const minor = (version: string): number => Number(version.split(".")[1]);

/** Whether a top-level module belongs to that Python version, for example "3.13". */
export function isStandard(module: string, python: string): boolean {
  const found = known.get(module);
  return (
    !!found &&
    (!found.since || minor(python) >= minor(found.since)) &&
    (!found.until || minor(python) < minor(found.until))
  );
}

/** The version that a module came with or has gone with, where it isn't in all. */
export const changeOf = (module: string): { since?: string; until?: string } => known.get(module) ?? {};

/** The top-level modules of that Python version, without the private ones. */
export const standardModules = (python: string): string[] =>
  [...known.keys()].filter((module) => !module.startsWith("_") && isStandard(module, python));
