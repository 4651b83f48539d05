import { html, nothing } from "lit";
import { text } from "../../text/parts/agents";

/** Tags of agents: labels in lower case; slashes separate levels, as in "team/crawlers". */

const HUES = 8;

/** A colour's number. Tags of one top level have one colour. */
export function hueOf(tag: string): number {
  let sum = 0;
  for (const character of tag.split("/", 1)[0]!) {
    sum = (sum * 31 + character.codePointAt(0)!) % 65_521;
  }
  return sum % HUES;
}

/** The tags in a text, separated by commas or spaces; sorted, without duplicates. */
export const tagsIn = (tags: string): string[] =>
  [...new Set(tags.split(/[\s,]+/).filter(Boolean))].sort((a, b) => (a < b ? -1 : 1));

/** Chips that lead to the agents with a tag. */
export const tagChips = (tags: readonly string[]): unknown =>
  tags.length
    ? html`<span class="tags"
        >${tags.map(
          (tag) =>
            html`<a
              class="tag hue-${hueOf(tag)}"
              href="/agents?q=${encodeURIComponent(`tag:${tag}`)}"
              title=${text.tags.agentsWith(tag)}
              >${tag}</a
            >`,
        )}</span
      >`
    : nothing;
