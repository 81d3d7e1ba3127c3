import type { Imported, Problem } from "../protocol/messages";
import { command } from "../app/session";
import { address } from "../app/token";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { toast } from "../ui/toast";
import { droppedFiles, type NamedFile } from "./droppedFiles";

/** Sends files to the server and opens what it made of them. */
async function bring(files: NamedFile[]): Promise<void> {
  if (files.length === 0) return;
  const form = new FormData();
  for (const { file, path } of files) form.append("files", file, path);
  try {
    const answer = await fetch(address("/api/import"), { method: "POST", body: form });
    const result = (await answer.json()) as Imported | Problem;
    if ("scene" in result) command({ type: "open", scene: result.scene });
    else toast({ level: "error", text: [result.error, result.where].filter(Boolean).join(" ") });
  } catch {
    toast({ level: "error", text: "The files did not reach the server. Try again." });
  }
}

export function openFileButton(): HTMLElement {
  const input = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    "aria-label": "Files to open",
  });
  input.addEventListener("change", () => {
    void bring([...(input.files ?? [])].map((file) => ({ file, path: file.name })));
    input.value = "";
  });
  const open = button("Open file", () => input.click(), "accent", "folder");
  return h("div", { class: "open-file" }, open, input);
}

/** Where files are dropped; the whole window takes them too. */
export function dropZone(): HTMLElement {
  const zone = h(
    "div",
    { class: "drop-zone", role: "region", "aria-label": "Drop files to import" },
    icon("upload"),
    h("b", {}, "Drop files to import"),
    h("span", {}, "URDF, TOML, with their meshes; recordings"),
  );
  const over = (event: DragEvent): void => {
    if (!zone.isConnected) return;
    event.preventDefault();
    zone.classList.add("over");
  };
  document.addEventListener("dragover", over);
  document.addEventListener(
    "dragleave",
    (event) => event.relatedTarget === null && zone.classList.remove("over"),
  );
  document.addEventListener("drop", (event) => {
    zone.classList.remove("over");
    if (!zone.isConnected || !event.dataTransfer) return;
    event.preventDefault();
    void droppedFiles(event.dataTransfer).then(bring);
  });
  return zone;
}
