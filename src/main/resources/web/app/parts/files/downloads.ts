import { request } from "../../core/api";
import type { StoredFile } from "../../core/types";

/** Links to files, which need no key. */

/** For how long a link is valid that the browser follows at once, in seconds. */
const AT_ONCE = 60;
const DAY = 86_400;

async function linkTo(file: StoredFile, seconds: number): Promise<URL> {
  const body = { expires_in: seconds };
  const { url } = await request<{ url: string }>("POST", `/files/${file.id}/links`, {
    body,
    repeatable: true,
  });
  // Without a public address of Roost, it is a path.
  return new URL(url, location.href);
}

/** A link for others. */
export const publicLink = async (file: StoredFile): Promise<string> => (await linkTo(file, DAY)).href;

/** Has the browser download a file, which the page's memory need not hold. */
export async function download(file: StoredFile): Promise<void> {
  const { pathname, search } = await linkTo(file, AT_ONCE);
  const link = document.createElement("a");
  link.href = pathname + search;
  link.download = file.name;
  link.click();
}
