import { text } from "../../text/parts/code";
import type { Mark } from "./marks";
import { ruffMarks, type RuffDiagnostic } from "./ruff-marks";

/** As in src/main/scripts/npm_packages.py, which brings the files. */
export const RUFF_VERSION = "0.16.9";

const WORKER = `/static/ruff/worker.js?${RUFF_VERSION}`;
/** Milliseconds; the first call waits for the download. */
const LONGEST = 60_000;

interface Call {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

let worker: Worker | null = null;
let last = 0;
const calls = new Map<number, Call>();

/** What Ruff has to say about a script for that Python version, for example "3.13". */
export const lint = async (script: string, python: string): Promise<Mark[]> =>
  ruffMarks((await call("check", script, python)) as RuffDiagnostic[]);

/** The script as Ruff formats it; rejected if the script is no Python. */
export const format = async (script: string, python: string): Promise<string> =>
  (await call("format", script, python)) as string;

/** Ruff runs in a worker: a long script must not hold up typing. It is downloaded with the first call. */
function call(action: "check" | "format", script: string, python: string): Promise<unknown> {
  worker ??= start();
  const id = ++last;
  return new Promise<unknown>((resolve, reject) => {
    const timer = setTimeout(() => stop(new Error(text.ruff.noResponse)), LONGEST);
    const end =
      <T>(settle: (value: T) => void) =>
      (value: T) => {
        clearTimeout(timer);
        calls.delete(id);
        settle(value);
      };
    calls.set(id, { resolve: end(resolve), reject: end(reject) });
    worker!.postMessage({ id, action, text: script, target: `py${python.replace(".", "")}` });
  });
}

function start(): Worker {
  const started = new Worker(WORKER, { type: "module" });
  started.onmessage = ({ data }: MessageEvent<{ id: number; result?: unknown; error?: string }>) => {
    const waiting = calls.get(data.id);
    if (data.error === undefined) {
      waiting?.resolve(data.result);
    } else {
      waiting?.reject(new Error(data.error));
    }
  };
  started.onerror = (event) => {
    event.preventDefault();
    stop(new Error(text.ruff.notLoaded));
  };
  return started;
}

/** The next call starts another worker. */
function stop(error: Error): void {
  worker?.terminate();
  worker = null;
  for (const { reject } of [...calls.values()]) {
    reject(error);
  }
}
