import { store } from "../app/store";

export interface TimeMark {
  /** Time on the timeline [s]. */
  time: number;
  level: string;
  text: string;
}

/** Marks on the timeline: all events of a recording, or the marks of a live run. */
export function marksShown(): TimeMark[] {
  const scene = store.scene;
  if (!scene) return [];
  if (scene.replay) return scene.replay.marks;
  return store.notes
    .filter((note) => note.level === "mark" && note.step !== null)
    .map((note) => ({ time: note.step! * scene.step, level: "mark", text: note.text }));
}
