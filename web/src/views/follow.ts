import { announce, on } from "../app/topics";
import { store } from "../app/store";

let body: number | null = null;
/** The scene of that body. */
let scene = -1;

/** The body that cameras follow; null for none. */
export function follow(index: number | null): void {
  body = index;
  scene = store.shown;
  announce("layout");
}

export function followed(): number | null {
  return body;
}

// Another scene has other bodies.
on("scene", () => {
  if (body !== null && store.shown !== scene) follow(null);
});
