// A server that the modules under test reach by `fetch`.

const real = globalThis.fetch;

/** Answers one request after another; what was sent is in the array that comes back. */
export function answers(functions) {
  const sent = [];
  globalThis.fetch = async (url, options) => {
    const answer = functions[sent.length];
    sent.push({ url, ...options });
    if (!answer) {
      throw new Error(`an unexpected request: ${options.method ?? "GET"} ${url}`);
    }
    options.signal?.throwIfAborted();
    return answer(sent.at(-1));
  };
  return sent;
}

export const restore = () => (globalThis.fetch = real);

export const json = (value, headers = {}) =>
  new Response(typeof value === "string" ? value : JSON.stringify(value), { headers });

/** An answer of the API that is none of success. */
export const problem = (status, code = "some_code", more = {}) =>
  new Response(JSON.stringify({ status, code, title: "Title", detail: "Detail.", ...more }), { status });

/** What `fetch` throws when there is no answer. */
export const lost = () => Promise.reject(new TypeError("network error"));
