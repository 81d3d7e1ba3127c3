import { formatSI } from "../app/numbers";
import { store } from "../app/store";
import { on } from "../app/topics";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { announce } from "../app/topics";

/** Findings of the scene's check and events of the run, latest first. */
export function messagePanel(): HTMLElement {
  const list = h("ol", { class: "messages", "aria-label": "Messages" });
  const clear = button(
    "Clear",
    () => {
      store.notes = [];
      announce("messages");
    },
    "bare",
  );
  const panel = h(
    "div",
    { class: "panel-body scroll", role: "tabpanel", "aria-label": "Messages" },
    list,
    clear,
  );
  const draw = (): void => {
    if (panel.hidden && list.childElementCount > 0 && store.notes.length > 50) return;
    const step = store.scene?.step ?? 0;
    const found = store.findings.map((f) => ({
      level: f.level as string,
      text: f.text,
      about: f.about,
      at: f.origin,
    }));
    const notes = store.notes
      .map((n) => ({
        level: n.level,
        text: n.text,
        about: n.source,
        at: n.step === null ? "" : formatSI(n.step * step, "s"),
      }))
      .reverse();
    list.replaceChildren(
      ...[...notes, ...found].map((m) =>
        h(
          "li",
          { class: `message ${m.level}` },
          h("p", {}, m.text),
          h(
            "p",
            { class: "message-about" },
            h("span", { class: "message-level" }, m.level),
            m.about && h("span", {}, m.about),
            m.at && h("code", {}, m.at),
          ),
        ),
      ),
    );
    clear.hidden = store.notes.length === 0;
    if (list.childElementCount === 0) list.append(h("li", { class: "empty" }, "No messages."));
  };
  on(["messages", "scene", "layout"], draw);
  draw();
  return panel;
}
