import "../styles/movement.css";
import { movement } from "../app/movement";
import { format } from "../app/numbers";
import { command } from "../app/session";
import { isDriver, store } from "../app/store";
import { on } from "../app/topics";
import { button, iconButton, rename } from "../ui/button";
import { h, setHidden, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { duplicated, exchanged, without } from "./drafts";
import { complain, edit, wrong } from "./edit";
import { interpolationFields } from "./interpolation";
import { askWhere, newMovement, openMovement, saveMovement } from "./movementFiles";
import { MovementLine } from "./movementLine";
import { PostureGrid } from "./postureGrid";

const NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** The movement editor: postures on a time line, their values, planner and file. */
export function movementSheet(): HTMLElement {
  const line = new MovementLine();
  const grid = new PostureGrid();
  const interpolation = interpolationFields();
  const name = nameField();
  const robot = robotChoice();
  const actions = postureActions();
  const play = button("Preview", () => command({ type: "play_movement", on: !movement.playing }));
  const time = h("span", { class: "movement-time", role: "status" });
  const save = button("Save", saveMovement, "raised", "save");
  const head = driving(
    name.element,
    robot.element,
    save,
    button("Save as…", () => askWhere(), "bare"),
    button("Open…", openMovement, "bare"),
    button("New", newMovement, "bare"),
    h("span", { class: "spring" }),
    time,
    play,
  );
  head.classList.add("movement-bar");
  const alert = h("p", { class: "movement-wrong", role: "alert", hidden: true });
  const settings = driving(
    h("div", { class: "movement-side" }, interpolation.element, actions.hint),
  );
  const whole = h(
    "div",
    { class: "movement-whole" },
    head,
    line.element,
    actions.element,
    alert,
    h("div", { class: "movement-lower" }, settings, grid.element),
  );
  const first = robotChoice();
  const begin = machineRead();
  const empty = h(
    "div",
    { class: "empty movement-empty" },
    h("p", {}, "No movement yet. Put the robot into its first posture and add it, or open one."),
    driving(
      first.element,
      button("Add posture", () => addPosture(false), "raised", "plus"),
      ...begin.elements,
      button("Open a movement…", openMovement),
    ),
  );
  const element = h("div", { class: "movement-sheet" }, whole, empty);
  const draw = (): void => {
    const { state } = movement;
    setHidden(whole, !state?.draft);
    setHidden(empty, Boolean(state?.draft));
    first.draw();
    begin.draw();
    if (!state?.draft) return;
    name.draw();
    robot.draw();
    interpolation.draw();
    actions.draw();
    line.draw();
    grid.draw();
    const words = [wrong.text, ...state.problems].filter(Boolean).join(" ");
    setText(alert, words);
    setHidden(alert, words === "");
    rename(save, state.dirty ? "Save" : "Saved");
    save.disabled = !state.dirty;
    drawTime();
  };
  const drawTime = (): void => {
    const end = movement.state?.draft?.postures.at(-1)?.time ?? 0;
    setText(time, `${format(movement.time, 2)} of ${format(end, 2)} s`);
    rename(play, movement.playing ? "Stop" : "Preview");
    line.drawTime();
  };
  on(["movement", "scene", "units", "people"], draw);
  on("movementTime", drawTime);
  draw();
  return element;
}

/** Adds the robot's present or target posture, at the cursor of the time line or at its end. */
function addPosture(wanted: boolean): void {
  const postures = movement.state?.draft?.postures ?? [];
  const now = Math.round(movement.time * 1000) / 1000;
  const free = postures.length > 0 && !postures.some((p) => Math.abs(p.time - now) < 0.005);
  complain("");
  command({ type: "add_posture", wanted, on: chosen, ...(free ? { time: now } : {}) });
}

/** The robot of a new movement. */
let chosen = "";

function robotChoice(): { element: HTMLElement; draw: () => void } {
  const select = h("select", { "aria-label": "Robot" });
  select.addEventListener("change", () => (chosen = select.value));
  const element = h("span", { class: "input-box movement-robot" }, select);
  const draw = (): void => {
    const robots = movement.state?.robots ?? [];
    setHidden(element, robots.length < 2);
    if (!robots.includes(chosen)) chosen = movement.state?.on ?? "";
    const key = robots.join();
    if (select.dataset["key"] !== key) {
      select.dataset["key"] = key;
      select.replaceChildren(
        ...robots.map((value) => h("option", { value }, value || "the scene's joints")),
      );
    }
    select.value = movement.state?.draft ? movement.state.on : chosen;
    // The robot of a movement cannot be changed.
    select.disabled = Boolean(movement.state?.draft);
  };
  return { element, draw };
}

function nameField(): { element: HTMLElement; draw: () => void } {
  const input = h("input", {
    type: "text",
    "aria-label": "Name of the movement",
    spellcheck: "false",
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") input.blur();
  });
  input.addEventListener("change", () => {
    const draft = movement.state?.draft;
    const typed = input.value.trim();
    const bad = !NAME.test(typed);
    complain(bad ? "A name has letters, digits, _ and -." : "");
    if (draft && !bad) edit({ ...draft, name: typed }, "name of the movement");
    draw();
  });
  const draw = (): void => {
    const text = movement.state?.draft?.name ?? "";
    if (input.defaultValue !== text) input.defaultValue = text;
    if (document.activeElement !== input) input.value = text;
  };
  return { element: h("span", { class: "input-box movement-name" }, input), draw };
}

/** The present effect of dragging the robot. */
function hintOf(at: number, shown: boolean, running: boolean): string {
  if (at < 0)
    return running ? "" : "Pose the robot and add the next posture, or select one to change it.";
  if (shown) return `Posture ${at + 1}: drag the robot, move sliders, or type.`;
  return running
    ? "Pause to change it by hand."
    : `Choose posture ${at + 1} again to change it by hand.`;
}

/** Reads the posture of the machine on a bus: adds it, or replaces the selected one. */
function machineRead(): { elements: HTMLElement[]; draw: () => void } {
  const bus = h("select", { "aria-label": "Bus of the machine" });
  const box = h("span", { class: "input-box movement-bus" }, bus);
  const read = button("Read posture", () => {
    const posture = movement.state?.draft ? movement.state.selected : -1;
    complain("");
    command({ type: "read_posture", bus: bus.value, posture, on: chosen });
  });
  const draw = (): void => {
    const { buses, draft, selected } = movement.state ?? { buses: [], draft: null, selected: -1 };
    const into = draft !== null && selected >= 0;
    setHidden(read, buses.length === 0);
    rename(read, into ? `Read into posture ${selected + 1}` : "Read posture");
    read.title = into ? "Replaces it by the machine's posture" : "Adds the posture of the machine";
    setHidden(box, buses.length < 2);
    if (bus.dataset["key"] === buses.join()) return;
    bus.dataset["key"] = buses.join();
    bus.replaceChildren(...buses.map((value) => h("option", { value }, value)));
  };
  return { elements: [read, box], draw };
}

/** Actions for the selected posture. */
function postureActions(): { element: HTMLElement; hint: HTMLElement; draw: () => void } {
  const selected = (): number => movement.state?.selected ?? -1;
  const change = (
    what: string,
    make: (at: number) => [ReturnType<typeof without>, number],
  ): (() => void) => {
    return () => {
      const at = selected();
      if (!movement.state?.draft || at < 0) return;
      const [draft, to] = make(at);
      complain("");
      edit(draft, what, { selected: to });
    };
  };
  const draft = (): ReturnType<typeof without> => movement.state!.draft!;
  const copy = button(
    "Duplicate",
    change("duplicate a posture", (at) => duplicated(draft(), at)),
    "bare",
  );
  const remove = button(
    "Delete",
    change("delete a posture", (at) => [without(draft(), at), -1]),
    "bare",
  );
  const earlier = iconButton(
    "back",
    "Earlier: exchange with the posture before",
    change("order of postures", (at) => [exchanged(draft(), at, -1), at - 1]),
  );
  const later = iconButton(
    "forward",
    "Later: exchange with the posture after",
    change("order of postures", (at) => [exchanged(draft(), at, 1), at + 1]),
  );
  const mirror = button(
    "Mirror",
    () => command({ type: "mirror_movement", posture: selected() }),
    "bare",
  );
  const mirrorAll = button(
    "Mirror all",
    () => command({ type: "mirror_movement", posture: -1 }),
    "bare",
  );
  const read = machineRead();
  const hint = h("p", { class: "movement-hint", role: "status" });
  const element = driving(
    button("Add posture", () => addPosture(false), "raised", "plus"),
    button("Add wanted", () => addPosture(true), "bare"),
    copy,
    remove,
    earlier,
    later,
    mirror,
    mirrorAll,
    ...read.elements,
  );
  element.classList.add("movement-bar");
  const draw = (): void => {
    const { state } = movement;
    if (!state?.draft) return;
    const at = state.selected;
    for (const each of [copy, remove]) each.disabled = at < 0;
    earlier.disabled = at < 1;
    later.disabled = at < 0 || at >= state.draft.postures.length - 1;
    mirror.disabled = at < 0 || state.mirror !== "";
    mirrorAll.disabled = state.mirror !== "";
    mirror.title = mirrorAll.title = state.mirror || "Exchanges left and right";
    read.draw();
    setText(hint, isDriver() ? hintOf(at, state.shown, store.status?.running ?? false) : "");
  };
  on("status", draw);
  return { element, hint, draw };
}
