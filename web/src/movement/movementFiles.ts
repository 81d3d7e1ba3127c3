/** Opening and saving a movement. */
import { movement } from "../app/movement";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { dialogField, openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { edit } from "./edit";

const TAKEN = "exists";
/** The last file of "Save as". */
let asked = "";

function short(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Continues if nothing is lost, or if the user confirms. */
function leaving(go: () => void): void {
  if (!movement.state?.dirty) return go();
  openDialog(
    "Discard the changes?",
    [h("p", {}, `${movement.state.draft?.name ?? "The movement"} is not saved.`)],
    [
      {
        label: "Discard",
        style: "accent",
        run: () => {
          setTimeout(go);
          return undefined;
        },
      },
    ],
  );
}

export function newMovement(): void {
  leaving(() => edit(null, "new movement"));
}

export function openMovement(): void {
  leaving(() => {
    const [file, input] = dialogField("File", "");
    const list = h(
      "datalist",
      { id: "movement-files" },
      ...(movement.state?.files ?? []).map((value) => h("option", { value })),
    );
    input.setAttribute("list", "movement-files");
    input.placeholder = movement.state?.files[0] ?? "wave.toml";
    const [which, name] = dialogField("Movement", "");
    openDialog(
      "Open a movement",
      [file, list, which, h("p", {}, "Needed only if a file contains several.")],
      [
        {
          label: "Open",
          style: "accent",
          run: () => {
            const path = input.value.trim();
            if (!path) return "Name a file.";
            command({ type: "open_movement", path, name: name.value.trim() });
            return undefined;
          },
        },
      ],
    );
  });
}

/** Saves to the previous file, or asks for one. */
export function saveMovement(): void {
  const file = movement.state?.file ?? "";
  if (file === "") askWhere();
  else command({ type: "save_movement", path: file, overwrite: true });
}

/** Asks for a file; `taken` is an existing one, which may be replaced. */
export function askWhere(taken = ""): void {
  if (!isDriver()) return void command({ type: "save_movement" });
  const [field, input] = dialogField("File", taken || (movement.state?.suggestion ?? ""));
  const write = (replace: boolean): string | undefined => {
    const typed = input.value.trim();
    if (!typed) return "Give the file a name.";
    asked = /\.(toml|xml)$/i.test(typed) ? typed : `${typed}.toml`;
    command({ type: "save_movement", path: asked, overwrite: replace && asked === taken });
    return undefined;
  };
  const there = h("p", { role: "alert" }, `There is a file ${short(taken)} already.`);
  openDialog(
    "Save the movement",
    [
      field,
      ...(taken ? [there] : []),
      h("p", {}, "As .toml, or as .humanoid.xml beside its robot, as Lima et al. does."),
    ],
    [
      ...(taken ? [{ label: "Replace", run: () => write(true), style: "raised" as const }] : []),
      { label: "Save", run: () => write(false), style: "accent" },
    ],
  );
}

on("refused", () => {
  const { what, reason } = store.refused ?? {};
  if (what === "save_movement" && reason === TAKEN && asked) askWhere(asked);
});
