import { send } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { button, rename } from "../ui/button";
import { h } from "../ui/dom";
import { openMenu } from "../ui/menu";

/** The clients and the driver; the button requests control or hands it over. */
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
    const { people: all, driver, requester } = store.people;
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
    const waits = requester === store.you;
    ask.hidden = isDriver() || all.length === 0;
    ask.disabled = waits;
    rename(ask, waits ? `Asked ${driver ?? ""}` : requestLabel());
    drawRequest(request, isDriver() ? requester : null);
  };
  on("people", draw);
  draw();
  return h("span", { class: "people-side" }, made, ask, request);
}

/** A request stays until it is answered. */
function drawRequest(request: HTMLElement, requester: string | null): void {
  request.hidden = requester === null;
  if (requester === null) return request.replaceChildren();
  const words = `${requester} asks to drive. Hand over?`;
  if (request.getAttribute("aria-label") === words && request.childElementCount > 0) return;
  request.setAttribute("aria-label", words);
  request.replaceChildren(
    h("span", {}, words),
    button("Hand over", () => send({ type: "control_grant", to: requester }), "accent"),
    // Granting control to oneself declines the request.
    button("Not now", () => send({ type: "control_grant", to: store.you }), "raised"),
  );
}

/** Without a driver there is nobody to ask. */
function requestLabel(): string {
  return store.people.driver === null ? "Drive" : "Ask to drive";
}

function whoIs(who: string): string {
  const you = who === store.you ? ", you" : "";
  return `${who}${you}, ${who === store.people.driver ? "drives" : "watches"}`;
}

function choices(): { label: string; run: () => void }[] {
  if (!isDriver())
    return [{ label: requestLabel(), run: () => void send({ type: "control_request" }) }];
  const others = store.people.people.filter((who) => who !== store.you);
  if (others.length === 0) return [{ label: "Nobody else is here", run: () => undefined }];
  return others.map((who) => ({
    label: `Hand over to ${who}`,
    run: () => void send({ type: "control_grant", to: who }),
  }));
}
