import type { Recent } from "../protocol/messages";
import { forget, openScene } from "../app/files";
import { iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { ago } from "./ago";

/** A recent file; a missing one is marked and can only be removed from the list. */
export function recentRow(file: Recent): HTMLElement {
  const folder = file.path.slice(0, Math.max(0, file.path.lastIndexOf("/")));
  const when = file.missing ? "missing" : ago(file.when, Date.now() / 1000);
  const open = h(
    "button",
    {
      type: "button",
      class: "recent-row",
      title: file.missing ? `${file.path}\nThis file no longer exists.` : file.path,
      disabled: file.missing,
      onclick: () => openScene(file.path),
    },
    icon(file.missing ? "warning" : "file"),
    h("span", { class: "recent-words" }, h("b", {}, file.name), h("span", {}, folder)),
    h("span", { class: "recent-when" }, when),
  );
  return h(
    "div",
    {
      class: `recent-item ${file.missing ? "missing" : ""}`,
      role: "listitem",
      "data-file": file.path,
    },
    open,
    iconButton("close", `Remove ${file.name} from the list`, () => forget(file.path)),
  );
}
