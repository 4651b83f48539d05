import { preference, prefer } from "./drafts";

export type Theme = "system" | "light" | "dark";

export const theme = (): Theme => preference<Theme>("theme", "system");

export function chooseTheme(chosen: Theme): void {
  prefer("theme", chosen);
  applyTheme();
}

/** By default, the page follows the system. */
export function applyTheme(): void {
  const chosen = theme();
  if (chosen === "system") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = chosen;
  }
}
