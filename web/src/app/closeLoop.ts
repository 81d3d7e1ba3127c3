import { h } from "../ui/dom";
import { openDialog } from "../ui/dialog";
import { toast } from "../ui/toast";
import { select } from "./selection";
import { command } from "./session";
import { isDriver, store } from "./store";
import { on } from "./topics";

/** Joints that close a loop, and whether they have an axis. */
const JOINTS: Record<string, boolean> = {
  ball: false,
  hinge: true,
  slider: true,
  cylindrical: true,
  universal: true,
  planar: true,
  fixed: false,
};
const AXES: Record<string, [number, number, number]> = {
  x: [1, 0, 0],
  y: [0, 1, 0],
  z: [0, 0, 1],
};

/** The selected anchors, in the order of selection. */
export function chosenAnchors(): string[] {
  return store.selection.filter((thing) => thing.kind === "anchor").map((thing) => thing.name);
}

/** The loops that existed at the request; the new one is selected when it arrives. */
let before: Set<string> | null = null;

function choice(label: string, words: string[], chosen: string): [HTMLElement, HTMLSelectElement] {
  const list = h(
    "select",
    {},
    ...words.map((word) => h("option", { value: word, selected: word === chosen }, word)),
  );
  const box = h("div", { class: "input-box" }, list);
  return [h("label", { class: "dialog-field" }, h("span", {}, label), box), list];
}

/** Asks for the joint between two anchors; the selected ones are the default. */
export function closeLoop(): void {
  const names = store.scene?.anchors.map((anchor) => anchor.name) ?? [];
  if (names.length < 2) {
    toast({ level: "info", text: "A loop is closed between two anchors; this scene has fewer." });
    return;
  }
  if (!isDriver()) {
    command({ type: "close_loop" }); // reports the reason
    return;
  }
  const [first = names[0]!, second = names.find((name) => name !== first)!] = chosenAnchors();
  const [from, a] = choice("From anchor", names, first);
  const [to, b] = choice("To anchor", names, second);
  const [held, joint] = choice("Joint", Object.keys(JOINTS), "hinge");
  const [along, axis] = choice("Axis of the anchors", Object.keys(AXES), "z");
  const fit = (): void => void (along.hidden = !JOINTS[joint.value]);
  joint.addEventListener("change", fit);
  fit();
  const words = "The engine moves the bodies together if it can, and holds them.";
  openDialog(
    "Close a loop",
    [from, to, held, along, h("p", {}, words)],
    [
      {
        label: "Close loop",
        style: "accent",
        run: () => {
          if (a.value === b.value) return "Choose two different anchors.";
          before = new Set(store.scene?.loops.map((loop) => loop.name));
          command({
            type: "close_loop",
            a: a.value,
            b: b.value,
            joint: joint.value,
            axis: AXES[axis.value],
          });
          return undefined;
        },
      },
    ],
  );
}

on("scene", () => {
  const made = before && store.scene?.loops.find((loop) => !before!.has(loop.name));
  if (!made) return;
  before = null;
  select({ kind: "loop", name: made.name });
});
on("refused", () => (before = null));
