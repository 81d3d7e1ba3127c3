/** What is done with files: open, begin, save, close; nothing unsaved is lost without a word. */
import { dialogField, openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { movementUnsaved } from "./movement";
import { command, send } from "./session";
import { isDriver, store } from "./store";
import { announce, on } from "./topics";

/** The key of a refusal to write over a file that is there. */
const TAKEN = "exists";
const NAME = /^[A-Za-z0-9_-]{1,100}$/;
/** What waits for the scene to be saved: something that replaces it. */
let next: (() => void) | null = null;
/** The file that was asked for last by "Save as". */
let asked = "";

function stay(): void {
  next = null;
}

function short(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A choice that always goes; the dialog closes first, for it may lead to another. */
function doing(run: () => void): () => undefined {
  return () => {
    setTimeout(run);
    return undefined;
  };
}

/** Asks about changes of the scene behind a recording, which would be lost with it. */
function leavingBehind(files: string[], go: (discard: boolean) => void): void {
  const words = `${files.map(short).join(", ")} waits behind this recording, with changes that are not saved.`;
  openDialog(
    "Discard the changes?",
    [h("p", {}, words)],
    [
      { label: "Discard", run: doing(() => go(true)), style: "raised" },
      {
        label: "Back to the scene",
        style: "accent",
        run: doing(() => void command({ type: "live" })),
      },
    ],
  );
}

/** Asks about unsaved changes before something replaces the scene; goes on with "discard" or not. */
export function leaving(go: (discard: boolean) => void): void {
  const behind = store.scene?.replay?.unsaved ?? [];
  if (behind.length > 0 && isDriver()) return leavingBehind(behind, go);
  if (store.scene && movementUnsaved() && isDriver()) return leavingMovement(go);
  leavingScene(go);
}

/** Asks about a movement that is not saved; the scene's own changes are asked about after it. */
function leavingMovement(go: (discard: boolean) => void): void {
  openDialog(
    "Discard the movement?",
    [h("p", {}, "The movement that is edited here has changes that are not saved.")],
    [{ label: "Discard", run: doing(() => leavingScene(go)), style: "accent" }],
  );
}

function leavingScene(go: (discard: boolean) => void): void {
  if (!store.scene || !store.undo.dirty || !isDriver()) return go(false);
  const files = store.undo.files.map(short).join(", ");
  openDialog(
    "Save the changes?",
    [h("p", {}, `${files || "The scene"} has changes that are not saved.`)],
    [
      { label: "Discard", run: doing(() => go(true)), style: "raised" },
      {
        label: store.undo.own ? "Save" : "Save as…",
        style: "accent",
        run: doing(() => {
          next = () => go(false);
          save();
        }),
      },
    ],
  );
}

export function openScene(scene: string): void {
  const ask = (more: object): void => {
    if (command({ type: "open", scene, ...more })) setOpening(scene);
  };
  // A recording takes nothing away: the scene waits behind it.
  if (/\.mcap$/i.test(scene)) return ask({});
  leaving((discard) => ask({ discard }));
}

function setOpening(scene: string): void {
  store.opening = scene;
  announce("opening");
}

export function closeScene(): void {
  leaving((discard) => void command({ type: "close_scene", discard }));
}

/** Runs the scene of the recording from the instant that is shown. */
export function goOn(): void {
  leaving((discard) => void command({ type: "go_on", discard }));
}

/** Whether somebody else drives; says so, before anything is asked. */
function watches(type: string): boolean {
  return !isDriver() && !command({ type });
}

/** Saves where the files are, or asks where to if they are a kit's. */
export function save(): void {
  if (watches("save")) return stay();
  if (store.scene?.editable === false) return convertOffer();
  if (!store.undo.own && store.undo.dirty) return askWhere();
  if (!command({ type: "save" })) stay();
}

export function saveAs(): void {
  stay();
  if (watches("save_as")) return;
  if (store.scene?.editable === false) return convertOffer();
  askWhere();
}

/** Asks for a file; `taken` is one that is there already, which may be replaced. */
function askWhere(taken = ""): void {
  const [field, input] = dialogField("File", taken || store.undo.suggestion);
  const words = store.undo.own
    ? "The scene goes on in the new file. Parts stay where they are."
    : "This scene is a kit's, which is not written over. What you changed is saved beside the new file.";
  const write = (replace: boolean): string | undefined => {
    const typed = input.value.trim();
    if (!typed) return "Give the file a name.";
    asked = typed.endsWith(".toml") ? typed : `${typed}.toml`;
    // Only the file that was asked about is replaced, not one whose name was typed since.
    const overwrite = replace && asked === taken;
    if (!command({ type: "save_as", path: asked, overwrite })) stay();
    return undefined;
  };
  const there = h("p", { role: "alert" }, `There is a file ${short(taken)} already.`);
  openDialog(
    "Save as",
    [field, ...(taken ? [there] : []), h("p", {}, words)],
    [
      ...(taken ? [{ label: "Replace", run: () => write(true), style: "raised" as const }] : []),
      { label: "Save", run: () => write(false), style: "accent" },
    ],
    stay,
  );
}

function convertOffer(): void {
  stay();
  openDialog(
    "This file cannot be edited",
    [h("p", {}, `${short(store.scene?.file ?? "It")} is not TOML. A copy of it can be.`)],
    [{ label: "Edit as TOML", style: "accent", run: doing(convert) }],
  );
}

export function convert(): void {
  store.converting = command({ type: "convert" });
}

/** A scene with a floor and, if a kit's part is named, that part on it. */
export function newScene(part = ""): void {
  const stem = part ? `${part.slice(part.indexOf("/") + 1)}_scene` : "my_scene";
  const [field, input] = dialogField("Name", stem);
  const words = part ? `A floor and ${part} on it.` : "An empty floor.";
  openDialog(
    "New scene",
    [field, h("p", {}, `${words} Nothing is written until you save.`)],
    [
      {
        label: "Create",
        style: "accent",
        run: () => {
          const name = input.value.trim();
          if (!NAME.test(name)) return "A name has letters, digits, _ and -.";
          return doing(() =>
            leaving((discard) => void command({ type: "new_scene", name, part, discard })),
          )();
        },
      },
    ],
  );
}

/** Puts the joint values that are shown into the file. */
export function storePosture(): void {
  if (watches("store_posture")) return;
  const known = store.scene?.postures ?? [];
  let number = known.length + 1;
  while (known.includes(`posture_${number}`)) number += 1;
  const [field, input] = dialogField("Name", `posture_${number}`);
  const words = known.length > 0 ? ` A name in use is replaced: ${known.join(", ")}.` : "";
  openDialog(
    "Store posture",
    [field, h("p", {}, `The joints as they stand now, as a posture of the scene.${words}`)],
    [
      {
        label: "Store",
        style: "accent",
        run: () => {
          const name = input.value.trim();
          if (!NAME.test(name)) return "A name has letters, digits, _ and -.";
          command({ type: "store_posture", name });
          return undefined;
        },
      },
    ],
  );
}

export function forget(path: string): void {
  send({ type: "forget", path });
}

/** The browser warns before the tab closes over unsaved changes; a refusal forgets what waited. */
export function guardFiles(): void {
  addEventListener("beforeunload", (event) => {
    if ((store.undo.dirty || movementUnsaved()) && store.scene && isDriver())
      event.preventDefault();
  });
  on("saved", () => {
    const go = next;
    stay();
    go?.();
  });
  on("refused", () => {
    const { what, key } = store.refused ?? {};
    if (what === "save_as" && key === TAKEN && asked) askWhere(asked);
    else stay();
  });
  on(["refused", "link"], () => (store.converting = false));
  on(["scene", "refused", "link"], () => {
    if (store.opening) setOpening("");
  });
  on("link", () => {
    if (store.link !== "open") stay();
  });
}
