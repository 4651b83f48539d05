import { text } from "../text/pages/create-templates";

/** Templates of scripts; the address `/create?template=NAME` chooses one. */
export interface Template {
  title: string;
  script: string;
  requirements: string;
  payload: string;
}

export const templates: Record<string, Template> = {
  hello: { ...text.hello, requirements: "", payload: `{"name": "Ada"}` },
  fetch: {
    ...text.fetch,
    requirements: "requests==2.32.5",
    payload: `{"url": "https://example.org"}`,
  },
  counter: { ...text.counter, requirements: "", payload: `{"name": "visits"}` },
};
