import type { Imported, ErrorResponse } from "../protocol/messages";
import { openScene } from "../app/files";
import { isDriver, store } from "../app/store";
import { command } from "../app/session";
import { address } from "../app/address";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { toast } from "../ui/toast";
import { droppedFiles, type NamedFile } from "./droppedFiles";

/** Uploads files and opens the result. */
async function bring(files: NamedFile[]): Promise<void> {
  if (files.length === 0) return;
  // Observers are refused before anything is sent.
  if (!isDriver()) return void command({ type: "open", scene: files[0]!.path });
  const form = new FormData();
  for (const { file, path } of files) form.append("files", file, path);
  try {
    const answer = await fetch(address("/api/import"), {
      method: "POST",
      body: form,
      headers: { "x-linkwork-key": store.key },
    });
    const result = (await answer.json()) as Imported | ErrorResponse;
    if ("scene" in result) openScene(result.scene);
    else toast({ level: "error", text: [result.error, result.where].filter(Boolean).join(" ") });
  } catch {
    toast({ level: "error", text: "The files did not reach the server. Try again." });
  }
}

/** Buttons that open files, or a folder with its content. */
export function openButtons(): HTMLElement {
  const input = (label: string, folder: boolean): HTMLInputElement => {
    const made = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": label,
      ...(folder ? { webkitdirectory: "" } : {}),
    });
    made.addEventListener("change", () => {
      const files = [...(made.files ?? [])];
      void bring(files.map((file) => ({ file, path: file.webkitRelativePath || file.name })));
      made.value = "";
    });
    return made;
  };
  const files = input("Files to open", false);
  const folder = input("Folder to open", true);
  return h(
    "div",
    { class: "open-file" },
    button("Open file", () => files.click(), "raised", "file"),
    button("Open folder", () => folder.click(), "raised", "folder"),
    files,
    folder,
  );
}

/** The visible drop zone; in fact the whole window accepts files. */
export function dropZone(): HTMLElement {
  return h(
    "div",
    { class: "drop-zone", role: "region", "aria-label": "Drop files to import" },
    icon("upload"),
    h("b", {}, "Drop files to import"),
    h("span", {}, "URDF, MJCF, SDF with meshes"),
    h("span", {}, "glTF, STL, OBJ, Collada, STEP"),
    h("span", {}, "TOML, humanoid XML, robot texts"),
    h("span", {}, "a folder, a ZIP, a recording"),
  );
}

/** Accepts files dropped anywhere in the window, also while a scene is open. */
export function listenDrops(): void {
  const veil = h(
    "div",
    { class: "drop-veil", hidden: true },
    h("div", {}, icon("upload", 32), h("b", {}, "Drop to open")),
  );
  document.body.append(veil);
  const hasFiles = (event: DragEvent): boolean =>
    event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!event.dataTransfer || !hasFiles(event)) return;
    event.preventDefault();
    void droppedFiles(event.dataTransfer).then(bring);
  });
}
