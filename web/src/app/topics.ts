/** Publish/subscribe: components of the page listen to topics by name. */
export type Topic =
  | "link"
  | "scene"
  | "opening"
  | "status"
  | "people"
  | "owners"
  | "undo"
  | "saved"
  | "attributes"
  | "refused"
  | "messages"
  | "poses"
  | "ghost"
  | "contacts"
  | "forces"
  | "signals"
  | "selection"
  | "hover"
  | "show"
  | "theme"
  | "units"
  | "layout"
  | "charts"
  | "gallery"
  | "ports"
  | "frames"
  | "images"
  | "reach"
  | "tool"
  | "near"
  | "cloud"
  | "movement"
  | "movementTime"
  | "drag";

const listeners = new Map<Topic, Set<() => void>>();

/** Calls `listener` whenever one of the topics changes; returns a function that unsubscribes. */
export function on(topics: Topic | Topic[], listener: () => void): () => void {
  const list = Array.isArray(topics) ? topics : [topics];
  for (const topic of list) {
    let set = listeners.get(topic);
    if (!set) listeners.set(topic, (set = new Set()));
    set.add(listener);
  }
  return () => list.forEach((topic) => listeners.get(topic)?.delete(listener));
}

export function announce(topic: Topic): void {
  listeners.get(topic)?.forEach((listener) => listener());
}
