import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";

const PATIENCE_MS = 600;

/** Says over the page that the server is away; goes by itself when it is back. */
export function linkNotice(): HTMLElement {
  const words = h("span", {});
  const reload = button("Reload", () => location.reload());
  reload.hidden = true;
  const notice = h(
    "div",
    { class: "link-notice", role: "alert", hidden: true },
    h("span", { class: "dot lost" }),
    words,
    reload,
  );
  let timer = 0;
  on("link", () => {
    clearTimeout(timer);
    if (store.link === "open") notice.hidden = true;
    else if (store.link === "refused" || store.link === "lost") {
      words.textContent = store.linkReason;
      reload.hidden = store.link !== "refused";
      timer = window.setTimeout(
        () => (notice.hidden = false),
        store.link === "lost" ? PATIENCE_MS : 0,
      );
    }
  });
  return notice;
}
