import { send } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { h } from "../ui/dom";
import { openMenu } from "../ui/menu";
import { toast } from "../ui/toast";

/** Who is here, who drives; the button asks for the wheel or hands it over. */
export function people(): HTMLElement {
  const made: HTMLButtonElement = h("button", {
    type: "button",
    class: "people",
    "aria-haspopup": "menu",
    onclick: () => openMenu(made, choices(), "People"),
  });
  const draw = (): void => {
    const { people: all, driver, asks } = store.people;
    const order = [...all].sort((a, b) => Number(b === driver) - Number(a === driver));
    const badges = order
      .slice(0, 2)
      .map((who) =>
        h(
          "span",
          { class: `badge ${who === driver ? "driver" : ""}`, title: who },
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
    if (asks && isDriver()) {
      toast({
        level: "info",
        text: `${asks} asks to drive. Hand over?`,
        action: { label: "Hand over", run: () => send({ type: "control_grant", to: asks }) },
      });
    }
  };
  on("people", draw);
  draw();
  return made;
}

function choices(): { label: string; run: () => void }[] {
  if (!isDriver())
    return [{ label: "Ask to drive", run: () => void send({ type: "control_request" }) }];
  const others = store.people.people.filter((who) => who !== store.you);
  if (others.length === 0) return [{ label: "Nobody else is here", run: () => undefined }];
  return others.map((who) => ({
    label: `Hand over to ${who}`,
    run: () => void send({ type: "control_grant", to: who }),
  }));
}
