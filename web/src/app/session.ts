import { Connection, type LinkState, type RefusalReason } from "../protocol/connection";
import {
  CONTACTS,
  FORCES,
  GHOST,
  IMAGE,
  NEAR,
  POSES,
  REACH,
  SIGNALS,
  type Block,
  type Snapshot,
} from "../protocol/frames";
import type { FromServer, Refused, SceneMessage } from "../protocol/messages";
import { askToShow, forgetBuses, receiveFrames, receivePorts } from "./buses";
import { run } from "./commands";
import { showAll, takeUnseen } from "./hidden";
import { receiveImage } from "./pictures";
import { forgetMovement, receiveMovement, receiveMovementTime } from "./movement";
import { reach, receiveCloud, receiveReaching } from "./reach";
import { forgetTrails, putHistories, receiveSignals, rewatch, historiesNow } from "./signals";
import { exists, isDriver, ofPrimary, same, store, type Note } from "./store";
import { announce } from "./topics";
import { toast } from "../ui/toast";
import { watchesOnly } from "./width";

const KEPT_NOTES = 400;
let connection: Connection | null = null;

export function connect(): void {
  connection = new Connection({ message, snapshot, state, before });
  connection.open();
}

type Message = { type: string } & Record<string, unknown>;

/** Substitute for a server, in a page without one. */
let local: ((message: Message) => void) | null = null;

export function answerHere(answer: (message: Message) => void): void {
  local = answer;
}

/** Whether this page is standalone, without a server. */
export function standsAlone(): boolean {
  return local !== null;
}

export function send(message: Message): boolean {
  if (!local) return connection?.send(message) ?? false;
  local(message);
  return true;
}

/** Messages that a window too narrow to drive may send. */
const WHILE_NARROW = new Set(["open", "close_scene", "drop"]);

/** Sends a change; reports it if this client only observes. */
export function command(message: Message): boolean {
  if (!local && watchesOnly() && !WHILE_NARROW.has(message.type)) {
    toast({ level: "info", text: "This window is too narrow to drive. From 1024 pixels it can." });
    return false;
  }
  if (!local && !isDriver()) {
    const who = store.people.driver;
    toast({
      level: "info",
      text: who ? `${who} drives. You watch.` : "Nobody drives yet.",
      action: { label: "Ask to drive", run: () => send({ type: "control_request" }) },
    });
    return false;
  }
  const sent = send(message);
  if (!sent) toast({ level: "warning", text: "Not connected: this was not done." });
  return sent;
}

/** This client's name before the connection broke, so that nobody else drives meanwhile. */
function before(): Record<string, string> {
  if (store.you === "") return {};
  return { was: store.you, ...(isDriver() ? {} : { watched: "1" }) };
}

function state(link: LinkState, text: string, reason: RefusalReason = ""): void {
  store.link = link;
  store.linkText = text;
  store.linkReason = reason;
  announce("link");
}

/** The run suspended behind a recording: its curves and its events. */
let behind: { opened: number; histories: ReturnType<typeof historiesNow>; notes: Note[] } | null =
  null;

/** Stores the data of a run while a recording is displayed, and restores it afterwards. */
function change(from: SceneMessage | null, to: SceneMessage): void {
  if (from && !from.replay && to.replay)
    behind = { opened: from.opened, histories: historiesNow(), notes: store.notes };
  const back = !to.replay && behind?.opened === to.opened ? behind : null;
  store.notes = back?.notes ?? [];
  forgetTrails();
  if (back) putHistories(back.histories);
  if (!to.replay) behind = null;
}

function opened(scene: SceneMessage): void {
  const { converting } = store;
  const other =
    store.scene?.name !== scene.name ||
    store.scene.replay?.path !== scene.replay?.path ||
    (store.scene.opened !== scene.opened && !converting);
  store.converting = false;
  const was = store.scene;
  store.scene = scene;
  store.findings = scene.findings;
  const { can_undo, can_redo, dirty } = scene;
  store.undo = { ...store.undo, can_undo, can_redo, dirty };
  store.poses = null;
  store.ghost = null;
  store.contacts = null;
  store.forces = null;
  reach.numbers = reach.near = null;
  if (other) {
    store.shown += 1;
    store.selection = [];
    store.attributes = null;
    change(was, scene);
    forgetMovement();
    forgetBuses();
    showAll();
  } else follow(scene);
  announce("scene");
  announce("undo");
  announce("messages");
  announce("selection");
  const last = store.selection.at(-1);
  if (last) send({ type: "inspect", name: last.name, kind: last.kind });
  rewatch();
  askToShow();
}

/** Updates the selection after a rename, and drops objects that no longer exist. */
function follow(scene: SceneMessage): void {
  const { renaming } = store;
  store.renaming = null;
  store.selection = store.selection
    .map((thing) =>
      renaming && same(renaming.thing, thing) && !exists(scene, thing)
        ? { ...thing, name: renaming.to }
        : thing,
    )
    .filter((thing) => exists(scene, thing));
}

function closed(): void {
  store.scene = null;
  store.undo = { ...store.undo, can_undo: false, can_redo: false, dirty: false };
  store.status = null;
  store.selection = [];
  receiveReaching({ type: "reaching", setup: null, chain: [], joints: [], columns: [] });
  forgetMovement();
  announce("scene");
}

/** Messages that leave a recording; if refused, the reason is shown. */
const LEAVING = new Set(["continue_recording", "open", "close_scene", "new_scene"]);

/** Shows a refusal, with an action that helps. */
function refused(m: Refused): void {
  // Refusals that are shown at the field or in the dialog.
  if (m.key && (m.what === "edit" || m.what === "save_as")) return;
  if (m.what === "save_movement" && m.reason === "exists") return;
  const signal = m.key;
  const take = m.what === "set" && store.owners[signal] !== undefined;
  const owned = m.what === "play_movement" && m.reason === "owned";
  const recorded = Boolean(store.scene?.replay) && !LEAVING.has(m.what);
  toast({
    level: take || recorded || owned ? "warning" : /^(un|re)do$/.test(m.what) ? "info" : "error",
    text: m.text,
    ...(take
      ? { action: { label: "Take it over", run: () => void send({ type: "take", signal }) } }
      : {}),
    ...(owned
      ? {
          action: {
            label: "Take over and preview",
            run: () => void send({ type: "play_movement", on: true, take: true }),
          },
        }
      : {}),
    ...(recorded ? { action: { label: "Go on from here", run: () => void run("go-on") } } : {}),
  });
}

function savedWords(files: string[]): string {
  if (files.length === 0) return "There was nothing to save.";
  return `Saved ${files.map((file) => file.slice(file.lastIndexOf("/") + 1)).join(", ")}.`;
}

function message(m: FromServer): void {
  switch (m.type) {
    case "hello":
      store.version = m.version;
      store.you = m.you;
      store.key = m.key;
      store.address = m.address;
      store.people = { type: "people", driver: m.driver, people: m.people, requester: null };
      if (!m.scene_open) closed();
      announce("people");
      return;
    case "scene":
      return opened(m);
    case "closed":
      return closed();
    case "status":
      store.status = m;
      if (m.version === store.scene?.version) takeUnseen(m.hidden);
      return announce("status");
    case "owners":
      store.owners = m.owners;
      return announce("owners");
    case "people":
      store.people = m;
      return announce("people");
    case "undo":
      store.undo = m;
      return announce("undo");
    case "attributes":
      // A late answer for another object; the panel keeps its content.
      if (ofPrimary(store.attributes) && !ofPrimary(m)) return;
      store.attributes = m;
      return announce("attributes");
    case "refused":
      store.refused = m;
      announce("refused");
      return refused(m);
    case "event":
      store.notes.push({ level: m.level, text: m.text, source: m.source, step: m.step });
      if (store.notes.length > KEPT_NOTES) store.notes.shift();
      if (m.level === "error" || m.level === "warning") toast({ level: m.level, text: m.text });
      return announce("messages");
    case "saved":
      toast({ level: "info", text: savedWords(m.files) });
      return announce("saved");
    case "ports":
      return receivePorts(m);
    case "frames":
      return receiveFrames(m);
    case "reaching":
      receiveReaching(m);
      return askToShow();
    case "cloud":
      return receiveCloud(m);
    case "movement":
      return receiveMovement(m);
    case "movement_time":
      return receiveMovementTime(m);
    case "gallery_changed":
      return announce("gallery");
  }
}

/** Takes over a snapshot as a whole, then notifies listeners. */
function snapshot(p: Snapshot): void {
  if (store.scene && p.version !== store.scene.version) return;
  store.poseTime = p.time;
  for (const block of p.blocks) take(block);
  for (const block of p.blocks) applyBlock(block, p.time);
}

function take(block: Block): void {
  if (block.kind === SIGNALS || block.kind === IMAGE) return;
  if (block.kind === REACH) {
    reach.numbers = block.count > 0 ? (block.values as Float64Array) : null;
    return;
  }
  const values = block.values as Float32Array;
  if (block.kind === POSES) store.poses = values;
  else if (block.kind === GHOST) store.ghost = block.count > 0 ? values : null;
  else if (block.kind === CONTACTS) store.contacts = values;
  else if (block.kind === FORCES) store.forces = values;
  else if (block.kind === NEAR) reach.near = values;
}

function applyBlock(block: Block, time: number): void {
  if (block.kind === SIGNALS) receiveSignals(block.flags, time, block.values as Float64Array);
  else if (block.kind === IMAGE) receiveImage(block.flags, block.values as Uint8Array);
  else if (block.kind === POSES) announce("poses");
  else if (block.kind === GHOST) announce("ghost");
  else if (block.kind === CONTACTS) announce("contacts");
  else if (block.kind === FORCES) announce("forces");
  else if (block.kind === REACH) announce("tool");
  else if (block.kind === NEAR) announce("near");
}
