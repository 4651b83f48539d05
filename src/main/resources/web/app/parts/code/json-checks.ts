import { jsonLanguage } from "@codemirror/lang-json";
import { text } from "../../text/parts/code";
import type { Mark } from "./marks";

/** Whether a text is JSON, and where not; an empty one stands for no value. */
export function checkJson(json: string): Mark[] {
  if (!json.trim()) {
    return [];
  }
  try {
    JSON.parse(json);
    return [];
  } catch (e) {
    const message = text.invalidJson((e as Error).message);
    const before = json.slice(0, placeOf(json));
    const line = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n");
    return [{ line, column, message, severity: "error" }];
  }
}

/** Browsers tell the place in different words, or not at all; the grammar knows it. */
function placeOf(text: string): number {
  let place = -1;
  jsonLanguage.parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError && place < 0) {
        place = node.from;
      }
    },
  });
  return place < 0 ? 0 : place;
}
