import { send } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { button, rename } from "../ui/button";
import { h } from "../ui/dom";
import { openMenu } from "../ui/menu";

/** Who is here, who drives; the button asks for the wheel or hands it over. */
export function people(): HTMLElement {
  const made: HTMLButtonElement = h("button", {
    type: "button",
    class: "people",
    "aria-haspopup": "menu",
    onclick: () => openMenu(made, choices(), "People"),
  });
  const request = h("div", { class: "request", role: "alertdialog", hidden: true });
  const ask = button("Ask to drive", () => send({ type: "control_request" }), "raised");
  const draw = (): void => {
    const { people: all, driver, asks } = store.people;
    const order = [...all].sort((a, b) => Number(b === driver) - Number(a === driver));
    const badges = order
      .slice(0, 2)
      .map((who) =>
        h(
          "span",
          { class: `badge ${who === driver ? "driver" : ""}`, title: whoIs(who) },
          who.slice(0, 2),
        ),
      );
    if (order.length > 2) badges.push(h("span", { class: "badge" }, `+${order.length - 2}`));
    const watching = all.length - (driver ? 1 : 0);
    const lead = isDriver() ? "You drive" : driver ? `${driver} drives` : "Nobody drives";
    made.replaceChildren(
      ...badges,
      h(
        "span",
        { class: "people-words" },
        h("b", {}, lead),
        watching > 0 ? `, ${watching} watch` : "",
      ),
    );
    const waits = asks === store.you;
    ask.hidden = isDriver() || all.length === 0;
    ask.disabled = waits;
    rename(ask, waits ? `Asked ${driver ?? ""}` : wish());
    drawRequest(request, isDriver() ? asks : null);
  };
  on("people", draw);
  draw();
  return h("span", { class: "people-side" }, made, ask, request);
}

/** Somebody's question stays until it is answered. */
function drawRequest(request: HTMLElement, asks: string | null): void {
  request.hidden = asks === null;
  if (asks === null) return request.replaceChildren();
  const words = `${asks} asks to drive. Hand over?`;
  if (request.getAttribute("aria-label") === words && request.childElementCount > 0) return;
  request.setAttribute("aria-label", words);
  request.replaceChildren(
    h("span", {}, words),
    button("Hand over", () => send({ type: "control_grant", to: asks }), "accent"),
    // To grant the wheel to oneself is to say no.
    button("Not now", () => send({ type: "control_grant", to: store.you }), "raised"),
  );
}

/** Where nobody drives there is nobody to ask. */
function wish(): string {
  return store.people.driver === null ? "Drive" : "Ask to drive";
}

function whoIs(who: string): string {
  const you = who === store.you ? ", you" : "";
  return `${who}${you}, ${who === store.people.driver ? "drives" : "watches"}`;
}

function choices(): { label: string; run: () => void }[] {
  if (!isDriver()) return [{ label: wish(), run: () => void send({ type: "control_request" }) }];
  const others = store.people.people.filter((who) => who !== store.you);
  if (others.length === 0) return [{ label: "Nobody else is here", run: () => undefined }];
  return others.map((who) => ({
    label: `Hand over to ${who}`,
    run: () => void send({ type: "control_grant", to: who }),
  }));
}
