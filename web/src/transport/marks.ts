import { store } from "../app/store";

export interface TimeMark {
  /** Time on the timeline [s]. */
  time: number;
  level: string;
  text: string;
}

/** What is marked on the timeline: in a recording all it tells of, live the marks of this run. */
export function marksShown(): TimeMark[] {
  const scene = store.scene;
  if (!scene) return [];
  if (scene.replay) return scene.replay.marks;
  return store.notes
    .filter((note) => note.level === "mark" && note.step !== null)
    .map((note) => ({ time: note.step! * scene.step, level: "mark", text: note.text }));
}
