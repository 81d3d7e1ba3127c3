import { announce } from "./topics";

const KEY = "linkwork-theme";
export type Theme = "dark" | "light";

export function theme(): Theme {
  return document.documentElement.dataset["theme"] === "light" ? "light" : "dark";
}

export function loadTheme(): void {
  const kept = localStorage.getItem(KEY);
  const light = matchMedia("(prefers-color-scheme: light)").matches;
  document.documentElement.dataset["theme"] = kept ?? (light ? "light" : "dark");
}

export function switchTheme(): void {
  const next = theme() === "dark" ? "light" : "dark";
  localStorage.setItem(KEY, next);
  document.documentElement.dataset["theme"] = next;
  announce("theme");
}

/** The current value of a color token such as `accent`. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const stillness = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
