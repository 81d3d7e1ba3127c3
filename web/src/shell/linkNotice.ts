import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";

const PATIENCE_MS = 600;

/** Says over the page that the server is away; goes by itself when it is back. */
export function linkNotice(): HTMLElement {
  const words = h("span", {});
  const help = h("span", { class: "link-help" });
  const notice = h(
    "div",
    { class: "link-notice", role: "alert", hidden: true },
    h("span", { class: "dot lost" }),
    words,
    help,
  );
  let timer = 0;
  on("link", () => {
    clearTimeout(timer);
    if (store.link === "open") notice.hidden = true;
    else if (store.link === "refused" || store.link === "lost") {
      words.textContent = store.linkReason;
      help.replaceChildren(...(store.link === "refused" ? [wayIn(store.linkReason)] : []));
      timer = window.setTimeout(
        () => (notice.hidden = false),
        store.link === "lost" && notice.hidden ? PATIENCE_MS : 0,
      );
    }
  });
  return notice;
}

/** What helps one who was not let in: the token typed in, or a newer page. */
function wayIn(reason: string): HTMLElement {
  if (!/token/i.test(reason)) return button("Reload", () => location.reload());
  // The server answers an empty token with a page that asks for the right one.
  return button("Enter the token", () => location.assign(new URL("./?token=", location.href)));
}
