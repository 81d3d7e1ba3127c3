import type { RecordingCard } from "../protocol/messages";
import { format } from "../app/numbers";
import { command } from "../app/session";
import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { ago } from "./ago";
import { fetchGallery } from "./gallery";

const MEGA = 1e6;

/** A size as text. */
export function sizeWords(bytes: number): string {
  if (bytes < MEGA) return `${format(Math.max(1, bytes / 1e3), 0)} kB`;
  return `${format(bytes / MEGA, bytes < 10 * MEGA ? 1 : 0)} MB`;
}

/** Rows that open recordings; one sentence if there are none. */
export function recordingRows(
  cards: RecordingCard[],
  chosen: () => void = () => undefined,
): HTMLElement[] {
  if (cards.length === 0) {
    return [h("p", { class: "empty" }, "No recordings yet. Open a scene and press Record.")];
  }
  return cards.map((card) => row(card, chosen));
}

function row(card: RecordingCard, chosen: () => void): HTMLElement {
  const file = card.path.split("/").at(-1) ?? card.path;
  const words = card.duration > 0 ? `${format(card.duration, 1)} s, ${sizeWords(card.size)}` : "";
  const open = h(
    "button",
    {
      type: "button",
      class: `recent-row recording-row ${card.problem ? "damaged" : ""}`,
      title: [card.path, card.problem].filter(Boolean).join("\n"),
      "data-recording": card.path,
      onclick: () => {
        chosen();
        command({ type: "open", scene: card.path });
      },
    },
    icon(card.problem ? "warning" : "record"),
    h(
      "span",
      { class: "recent-words" },
      h("b", {}, card.scene || file),
      h("span", {}, card.problem || file),
    ),
    h("span", { class: "recording-length" }, words),
    h("span", { class: "recent-when" }, ago(card.when, Date.now() / 1000)),
  );
  return h("div", { role: "listitem", class: "cell" }, open);
}

/** Asks which recording to open. */
export function openRecordings(): void {
  if (document.querySelector("dialog[open]")) return;
  const list = h("div", { class: "palette-list recordings", role: "list" }, "Loading …");
  const dialog = h(
    "dialog",
    { class: "palette", "aria-label": "Open a recording" },
    h("h2", { class: "palette-title" }, "Recordings"),
    list,
  );
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  fetchGallery(true).then(
    (gallery) => list.replaceChildren(...recordingRows(gallery.recordings, () => dialog.close())),
    (error: Error) =>
      list.replaceChildren(h("p", { class: "empty", role: "alert" }, error.message)),
  );
}
