import { announce } from "../app/topics";

let body: number | null = null;

/** The perspective camera keeps this body in sight; null lets it stand still. */
export function follow(index: number | null): void {
  body = index;
  announce("layout");
}

export function followed(): number | null {
  return body;
}
