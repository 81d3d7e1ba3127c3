import type { GalleryKit } from "../protocol/messages";
import { iconButton } from "../ui/button";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { address } from "../app/address";
import { partCard } from "./partCard";

/** A kit on the start page; it shows its parts. */
export function kitTile(kit: GalleryKit): HTMLElement {
  const picture = kit.parts.find((part) => part.picture)?.picture;
  const count = kit.parts.length;
  const tile = h(
    "button",
    {
      type: "button",
      class: "kit-tile",
      "data-kit": kit.name,
      onclick: () => openKit(kit),
    },
    picture
      ? h("img", { src: address(picture), alt: "", loading: "lazy" })
      : h("span", { class: "blank" }, icon("part", 48)),
    h(
      "span",
      { class: "card-words" },
      h("b", {}, kit.name),
      h("span", { class: "card-engine" }, `${count} part${count === 1 ? "" : "s"}`),
    ),
  );
  return h("div", { role: "listitem", class: "cell" }, tile);
}

function openKit(kit: GalleryKit): void {
  const dialog = h(
    "dialog",
    { class: "help kit-dialog", "aria-label": `Kit ${kit.name}` },
    h(
      "header",
      {},
      h("h2", {}, kit.name),
      iconButton("close", "Close", () => dialog.close()),
    ),
    kit.parts.length > 0
      ? h(
          "div",
          { class: "kit-grid" },
          ...kit.parts.map((part) => partCard(part, kit.name, () => dialog.close())),
        )
      : h("p", { class: "empty" }, "This kit has scenes only."),
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
