import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";

const NOTICE_DELAY_MS = 600;

/** A notice over the page while the server is unreachable; closes automatically. */
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
      words.textContent = store.linkText;
      help.replaceChildren(...(store.link === "refused" ? [rejectionAction()] : []));
      timer = window.setTimeout(
        () => (notice.hidden = false),
        store.link === "lost" && notice.hidden ? NOTICE_DELAY_MS : 0,
      );
    }
  });
  return notice;
}

/** Help for a rejected client: a field for the token, or a newer page. */
function rejectionAction(): HTMLElement {
  if (store.linkReason !== "token") return button("Reload", () => location.reload());
  // The server answers an empty token with a page that asks for the right one.
  return button("Enter the token", () => location.assign(new URL("./?token=", location.href)));
}
