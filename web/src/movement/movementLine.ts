import { movement } from "../app/movement";
import { format } from "../app/numbers";
import { command } from "../app/session";
import { isDriver } from "../app/store";
import { newGesture } from "../app/targetSender";
import { h } from "../ui/dom";
import { ticks, whyNotAt, without, withTime } from "./drafts";
import { complain, edit, selectPosture } from "./edit";

const INSET_PX = 14;
/** Time resolution of a dragged posture [s]. */
const SNAP_S = 0.05;
const KEY_S = 0.1;

/** The time line of a movement: its postures, which can be dragged, and the playback time. */
export class MovementLine {
  private readonly marks = h("div", { class: "movement-ticks", "aria-hidden": "true" });
  private readonly list = h("div", { role: "listbox", "aria-label": "Postures" });
  private readonly head = h("div", {
    class: "movement-head-mark",
    role: "slider",
    tabindex: "0",
    "aria-label": "Time of the movement",
    "aria-valuemin": "0",
  });
  private readonly track = h("div", { class: "movement-track" }, this.marks, this.head, this.list);
  readonly element = h("div", { class: "movement-line" }, this.track);
  /** The time at the right end [s]; constant during a drag. */
  private end = 1;
  private dragged: { at: number; gesture: number } | null = null;

  constructor() {
    this.track.addEventListener("pointerdown", (event) => {
      const mark = (event.target as HTMLElement).closest<HTMLElement>("[role=option]");
      if (!isDriver() || event.button !== 0) return;
      event.preventDefault();
      this.track.setPointerCapture(event.pointerId);
      if (mark) {
        const at = Number(mark.dataset["posture"]);
        this.dragged = { at, gesture: newGesture() };
        mark.focus();
        selectPosture(at);
      } else this.scrub(this.timeAt(event));
    });
    this.track.addEventListener("pointermove", (event) => {
      if (!this.track.hasPointerCapture(event.pointerId)) return;
      if (this.dragged) this.retime(this.dragged.at, this.timeAt(event), this.dragged.gesture);
      else this.scrub(this.timeAt(event));
    });
    const end = (): void => {
      this.dragged = null;
      this.draw();
    };
    this.track.addEventListener("pointerup", end);
    this.track.addEventListener("pointercancel", end);
    this.list.addEventListener("keydown", (event) => this.onKey(event));
    this.head.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1 }[event.key];
      if (by === undefined || !isDriver()) return;
      event.preventDefault();
      this.scrub(movement.time + (by * KEY_S) / (event.shiftKey ? 1 : 2));
    });
  }

  private get last(): number {
    return movement.state?.draft?.postures.at(-1)?.time ?? 0;
  }

  private timeAt(event: PointerEvent): number {
    const box = this.track.getBoundingClientRect();
    const part = (event.clientX - box.left - INSET_PX) / (box.width - 2 * INSET_PX);
    return Math.max(0, part * this.end);
  }

  private scrub(time: number): void {
    const inside = Math.min(Math.max(0, time), this.last);
    command({ type: "show_movement", posture: -1, time: inside });
  }

  /** Moves the posture in time, unless another posture has that time. */
  private retime(at: number, time: number, gesture: number): void {
    const draft = movement.state?.draft;
    const to = Math.round(time / SNAP_S) * SNAP_S;
    if (!draft?.postures[at] || whyNotAt(draft, at, to) !== "") return;
    const next = withTime(draft, at, to);
    if (next.postures[at]!.time === draft.postures[at]!.time) return;
    const order = next.postures
      .map((_, n) => n)
      .sort((a, b) => next.postures[a]!.time - next.postures[b]!.time);
    edit(next, "time of a posture", { selected: at, gesture });
    // The server sorts postures; the dragged one stays under the pointer.
    movement.state!.draft = { ...next, postures: order.map((n) => next.postures[n]!) };
    movement.state!.selected = order.indexOf(at);
    if (this.dragged) this.dragged.at = order.indexOf(at);
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const { state } = movement;
    const draft = state?.draft;
    if (!state || !draft || !isDriver()) return;
    const at = state.selected;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined && event.shiftKey && at >= 0) {
      const time = draft.postures[at]!.time + by * KEY_S;
      const why = whyNotAt(draft, at, time);
      if (why) complain(why);
      else this.retime(at, time, 0);
    } else if (by !== undefined) {
      selectPosture(Math.min(draft.postures.length - 1, Math.max(0, at + by)));
      this.draw();
      this.list.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    } else if (event.key === "Delete" && at >= 0) {
      edit(without(draft, at), "delete a posture", { selected: -1 });
    } else return;
    event.preventDefault();
  }

  draw(): void {
    const { state } = movement;
    const postures = state?.draft?.postures ?? [];
    if (!this.dragged) this.end = Math.max(1, this.last * 1.15);
    const place = (time: number): string =>
      `calc(${INSET_PX}px + (100% - ${2 * INSET_PX}px) * ${Math.min(1, time / this.end).toFixed(5)})`;
    this.marks.replaceChildren(
      ...ticks(0.97 * this.end).map((time) =>
        h("span", { style: `left:${place(time)}` }, `${Number(time.toFixed(2))} s`),
      ),
    );
    while (this.list.childElementCount > postures.length) this.list.lastElementChild!.remove();
    while (this.list.childElementCount < postures.length)
      this.list.append(h("div", { class: "movement-mark", role: "option" }));
    postures.forEach((posture, n) => {
      const mark = this.list.children[n] as HTMLElement;
      const chosen = n === state?.selected;
      mark.dataset["posture"] = String(n);
      mark.style.left = place(posture.time);
      mark.tabIndex = chosen || (n === 0 && (state?.selected ?? -1) < 0) ? 0 : -1;
      mark.setAttribute("aria-selected", String(chosen));
      mark.setAttribute("aria-label", `Posture ${n + 1} at ${posture.time} s`);
      mark.title = `Posture ${n + 1}, ${posture.time} s`;
    });
    this.drawTime();
  }

  drawTime(): void {
    const part = Math.min(1, movement.time / this.end);
    this.head.style.left = `calc(${INSET_PX}px + (100% - ${2 * INSET_PX}px) * ${part.toFixed(5)})`;
    this.head.setAttribute("aria-valuemax", String(this.last));
    this.head.setAttribute("aria-valuenow", movement.time.toFixed(3));
    this.head.setAttribute("aria-valuetext", `${format(movement.time, 2)} seconds`);
  }
}
