import { Connection, type LinkState } from "../protocol/connection";
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
  type Picture,
} from "../protocol/frames";
import type { FromServer, Refused, Scene } from "../protocol/messages";
import { askToShow, forgetBuses, receiveFrames, receivePorts } from "./buses";
import { run } from "./commands";
import { showAll, takeUnseen } from "./hidden";
import { receiveImage } from "./pictures";
import { forgetMovement, receiveMovement, receiveMovementTime } from "./movement";
import { reach, receiveCloud, receiveReaching } from "./reach";
import { forgetTrails, putTrails, receiveSignals, rewatch, trailsNow } from "./signals";
import { exists, isDriver, ofPrimary, same, store, type Note } from "./store";
import { announce } from "./topics";
import { toast } from "../ui/toast";
import { readToken } from "./token";
import { watchesOnly } from "./width";

const KEPT_NOTES = 400;
let connection: Connection | null = null;

export function connect(): void {
  connection = new Connection(readToken(), { message, picture, state, before });
  connection.open();
}

type Message = { type: string } & Record<string, unknown>;

/** What answers in the place of a server, in a page that has none. */
let local: ((message: Message) => void) | null = null;

export function answerHere(answer: (message: Message) => void): void {
  local = answer;
}

/** Whether this page stands alone: there is no server behind it. */
export function standsAlone(): boolean {
  return local !== null;
}

export function send(message: Message): boolean {
  if (!local) return connection?.send(message) ?? false;
  local(message);
  return true;
}

/** What one may do in a window that is too narrow to drive. */
const WHILE_NARROW = new Set(["open", "close_scene", "drop"]);

/** Sends what changes something; says so when this person only watches. */
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

/** Who this was before the line broke, so that nobody else is made to drive meanwhile. */
function before(): Record<string, string> {
  if (store.you === "") return {};
  return { was: store.you, ...(isDriver() ? {} : { watched: "1" }) };
}

function state(link: LinkState, reason: string): void {
  store.link = link;
  store.linkReason = reason;
  announce("link");
}

/** The run that waits behind a recording: its curves, and what it told. */
let behind: { opened: number; trails: ReturnType<typeof trailsNow>; notes: Note[] } | null = null;

/** Keeps what belongs to a run while a recording is looked at, and gives it back after. */
function change(from: Scene | null, to: Scene): void {
  if (from && !from.replay && to.replay)
    behind = { opened: from.opened, trails: trailsNow(), notes: store.notes };
  const back = !to.replay && behind?.opened === to.opened ? behind : null;
  store.notes = back?.notes ?? [];
  forgetTrails();
  if (back) putTrails(back.trails);
  if (!to.replay) behind = null;
}

function opened(scene: Scene): void {
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

/** Lets the selection follow a rename, and drop what the scene has no more. */
function follow(scene: Scene): void {
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

/** What leaves a recording; where that is refused, its reason is what helps. */
const LEAVING = new Set(["go_on", "open", "close_scene", "new_scene"]);

/** Says what was refused, with the one thing that helps. */
function refused(m: Refused): void {
  // What is said where it was asked: at the field, in the dialog.
  if (m.key && (m.what === "edit" || m.what === "save_as")) return;
  if (m.what === "save_movement" && m.key === "exists") return;
  const signal = m.key;
  const take = m.what === "set" && store.owners[signal] !== undefined;
  const owned = m.what === "play_movement" && m.key === "owned";
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
      store.people = { type: "people", driver: m.driver, people: m.people, asks: null };
      if (!m.scene_open) closed();
      announce("people");
      return;
    case "scene":
      return opened(m);
    case "closed":
      return closed();
    case "status":
      store.status = m;
      if (m.version === store.scene?.version) takeUnseen(m.unseen);
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
      // What was asked of another thing answers late; the panel keeps what it shows.
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

/** Takes a picture over as a whole, then says what there is to see. */
function picture(p: Picture): void {
  if (store.scene && p.version !== store.scene.version) return;
  store.poseTime = p.time;
  for (const block of p.blocks) take(block);
  for (const block of p.blocks) tell(block, p.time);
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

function tell(block: Block, time: number): void {
  if (block.kind === SIGNALS) receiveSignals(block.flags, time, block.values as Float64Array);
  else if (block.kind === IMAGE) receiveImage(block.flags, block.values as Uint8Array);
  else if (block.kind === POSES) announce("poses");
  else if (block.kind === GHOST) announce("ghost");
  else if (block.kind === CONTACTS) announce("contacts");
  else if (block.kind === FORCES) announce("forces");
  else if (block.kind === REACH) announce("tool");
  else if (block.kind === NEAR) announce("near");
}
