/** File operations: open, new, save, close; unsaved changes are never lost without a question. */
import { dialogField, openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { movementUnsaved } from "./movement";
import { command, send } from "./session";
import { isDriver, store } from "./store";
import { announce, on } from "./topics";

/** The key of a refusal to overwrite an existing file. */
const TAKEN = "exists";
const NAME = /^[A-Za-z0-9_-]{1,100}$/;
/** The action that waits for the scene to be saved and replaces it. */
let next: (() => void) | null = null;
/** The last file of "Save as". */
let asked = "";

function stay(): void {
  next = null;
}

function short(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** A choice that always succeeds; the dialog closes first, as it may open another. */
function doing(run: () => void): () => undefined {
  return () => {
    setTimeout(run);
    return undefined;
  };
}

/** Asks about changes of the scene behind a recording, which would be lost with it. */
function leavingBehind(files: string[], go: (discard: boolean) => void): void {
  const words = `${files.map(short).join(", ")}, suspended behind this recording, has unsaved changes.`;
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

/** Asks about unsaved changes before the scene is replaced; continues with or without "discard". */
export function leaving(go: (discard: boolean) => void): void {
  const behind = store.scene?.replay?.unsaved ?? [];
  if (behind.length > 0 && isDriver()) return leavingBehind(behind, go);
  if (store.scene && movementUnsaved() && isDriver()) return leavingMovement(go);
  leavingScene(go);
}

/** Asks about an unsaved movement; the scene's own changes are asked about afterwards. */
function leavingMovement(go: (discard: boolean) => void): void {
  openDialog(
    "Discard the movement?",
    [h("p", {}, "The movement has unsaved changes.")],
    [{ label: "Discard", run: doing(() => leavingScene(go)), style: "accent" }],
  );
}

function leavingScene(go: (discard: boolean) => void): void {
  if (!store.scene || !store.undo.dirty || !isDriver()) return go(false);
  const files = store.undo.files.map(short).join(", ");
  openDialog(
    "Save the changes?",
    [h("p", {}, `${files || "The scene"} has unsaved changes.`)],
    [
      { label: "Discard", run: doing(() => go(true)), style: "raised" },
      {
        label: store.undo.is_own_file ? "Save" : "Save as…",
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
  // A recording replaces nothing: the scene is suspended behind it.
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

/** Continues the recording's scene live from the displayed instant. */
export function goOn(): void {
  leaving((discard) => void command({ type: "continue_recording", discard }));
}

/** Whether another client drives; reports it before any question. */
function watches(type: string): boolean {
  return !isDriver() && !command({ type });
}

/** Saves in place, or asks for a file if the scene belongs to a kit. */
export function save(): void {
  if (watches("save")) return stay();
  if (store.scene?.editable === false) return convertOffer();
  if (!store.undo.is_own_file && store.undo.dirty) return askWhere();
  if (!command({ type: "save" })) stay();
}

export function saveAs(): void {
  stay();
  if (watches("save_as")) return;
  if (store.scene?.editable === false) return convertOffer();
  askWhere();
}

/** Asks for a file; `taken` is an existing one, which may be replaced. */
function askWhere(taken = ""): void {
  const [field, input] = dialogField("File", taken || store.undo.suggestion);
  const words = store.undo.is_own_file
    ? "The scene continues in the new file. Part files are not copied."
    : "Kit files are not overwritten. Your changes are saved beside the new file.";
  const write = (replace: boolean): string | undefined => {
    const typed = input.value.trim();
    if (!typed) return "Give the file a name.";
    asked = typed.endsWith(".toml") ? typed : `${typed}.toml`;
    // Only the file of the question is replaced, not one typed since.
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

/** A scene with a floor and, if given, a kit's part on it. */
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

/** Writes the displayed joint values into the file. */
export function storePosture(): void {
  if (watches("store_posture")) return;
  const known = store.scene?.postures ?? [];
  let number = known.length + 1;
  while (known.includes(`posture_${number}`)) number += 1;
  const [field, input] = dialogField("Name", `posture_${number}`);
  const words = known.length > 0 ? ` A name in use is replaced: ${known.join(", ")}.` : "";
  openDialog(
    "Store posture",
    [field, h("p", {}, `The current joint values, as a posture of the scene.${words}`)],
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

/**
 * Makes the browser warn before closing with unsaved changes; a refusal drops the waiting action.
 */
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
    const { what, reason } = store.refused ?? {};
    if (what === "save_as" && reason === TAKEN && asked) askWhere(asked);
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
