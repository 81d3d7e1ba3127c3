// Made by `python -m linkwork.studio.protocol.typescript --write` from src/linkwork/studio/protocol; do not edit.

export const PROTOCOL = 3;
export const SNAPSHOT = 1;
export const POSES = 1;
export const SIGNALS = 2;
export const CONTACTS = 3;
export const GHOST = 4;
export const IMAGE = 7;
export const FORCES = 8;
export const REACH = 9;
export const NEAR = 10;
export const SNAPSHOTS_PER_ACK = 6;
export const GRAB_FREQUENCY = 15;

/** Numbers per row of each kind of block, and bytes per number. */
export const ROWS: { [kind: number]: [number, number] } = {
  1: [7, 4],
  2: [1, 8],
  3: [7, 4],
  4: [7, 4],
  7: [1, 1],
  8: [7, 4],
  9: [1, 8],
  10: [11, 4],
};

/** An error as data, for messages between processes. */
export interface ErrorRecord {
  kind: string;
  text: string;
  file: string;
  line: number;
  hint: string;
}

/** Number of snapshots received since the connection was made. */
export interface Ack {
  type: "ack";
  frame: number;
}

/** Adds the robot's present posture, or with ``wanted`` its target posture. Without a ``time`` it is placed one second after the last. If there is no movement, one is created for the part ``on``. */
export interface AddPosture {
  type: "add_posture";
  wanted?: boolean;
  time?: number | null;
  on?: string;
}

/** Displays the present again. */
export interface BackToLive {
  type: "live";
}

/** Connects two anchors by a joint, in the file; ``axis`` is in the anchors' frames. */
export interface CloseLoop {
  type: "close_loop";
  a: string;
  b: string;
  joint?: string;
  axis?: [number, number, number];
}

/** Returns to the gallery; ``discard`` as for ``open``. */
export interface CloseScene {
  type: "close_scene";
  discard?: boolean;
}

/** Continues live from the displayed instant of the recording; ``discard`` as for ``open``. */
export interface ContinueRecording {
  type: "continue_recording";
  discard?: boolean;
}

/** Hands control over to a client. */
export interface ControlGrant {
  type: "control_grant";
  to: string;
}

/** Requests control. */
export interface ControlRequest {
  type: "control_request";
}

/** Makes a TOML copy of the open file, and opens it. */
export interface ConvertToToml {
  type: "convert";
}

/** Sets a joint's value directly, while paused. Messages of one gesture have the same ``gesture`` and are one undo step; 0 is a step of its own. */
export interface DragJoint {
  type: "place";
  joint: string;
  dof: string;
  value: number;
  gesture?: number;
}

/** Drags the tool to a pose (7 numbers), or with ``frame`` a point of that frame to a position. Joints move there step by step, also after the last message. Messages of one gesture have the same ``gesture``. */
export interface DragTool {
  type: "reach";
  pose: [number, number, number, number, number, number, number];
  gesture?: number;
  frame?: string;
  point?: [number, number, number];
}

/** Changes an attribute in the file; ``value`` is a number, or text as in the file. */
export interface EditAttribute {
  type: "edit";
  name: string;
  kind: string;
  key: string;
  value: string | number | boolean;
}

/** Ends a pull. */
export interface EndGrab {
  type: "drop";
}

/** Ends a drag of the tool; a ``cancelled`` drag restores the joints. */
export interface EndToolDrag {
  type: "end_tool_drag";
  cancelled?: boolean;
}

/** Begins or ends a fault: one of the scene by its name, or with a ``kind`` a new one. ``args`` are its parameters as in a file; without name and kind all faults end. A ``person`` without a ``part`` is a visitor added to the scene, who starts at ``enters``. */
export interface FaultRequest {
  type: "fault";
  name?: string;
  on?: boolean;
  kind?: string;
  args?: { [key: string]: boolean | number | string | number[] };
}

/** Removes a file from the list of recent ones; the file itself is kept. */
export interface ForgetRecent {
  type: "forget";
  path: string;
}

/** Gives servos to all joints without a drive, in the file; of an import, in a TOML copy. */
export interface GiveServos {
  type: "give_servos";
}

/** Pulls a point of an element (in its frame) toward a target (in the world frame). */
export interface Grab {
  type: "grab";
  element: string;
  point: [number, number, number];
  target: [number, number, number];
}

/** Requests the attributes of an object; ``kind`` is scene, part, element, joint and so on. */
export interface Inspect {
  type: "inspect";
  name: string;
  kind: string;
}

/** Adds a named mark to the running recording. */
export interface Mark {
  type: "mark";
  text?: string;
}

/** Exchanges left and right in a posture, or in all of them. */
export interface MirrorMovement {
  type: "mirror_movement";
  posture?: number;
}

/** Opens a new, unsaved scene: a floor and, if one is named, a part of a kit. ``discard`` as for ``open``. */
export interface NewScene {
  type: "new_scene";
  name: string;
  part?: string;
  discard?: boolean;
}

/** Opens a scene or part: a kit's name for it, or a recent or imported file. While a recording is displayed, a scene with unsaved changes may be suspended behind it; it is discarded only with ``discard``. */
export interface Open {
  type: "open";
  scene: string;
  discard?: boolean;
}

/** Opens a movement for editing: a kit's name of it, or a file in the studio's folders. */
export interface OpenMovement {
  type: "open_movement";
  path: string;
  name?: string;
  on?: string;
}

/** Overrides a port's signal with a value; null ends the override. */
export interface Override {
  type: "override";
  signal: string;
  value?: number | null;
}

/** Pauses the clock. */
export interface Pause {
  type: "pause";
}

/** Starts the clock. */
export interface Play {
  type: "play";
}

/** Plays the movement on the robot, or stops it; ``take`` takes its joints over first. */
export interface PlayMovement {
  type: "play_movement";
  on?: boolean;
  take?: boolean;
}

/** Moves the robot to a named posture. */
export interface Posture {
  type: "posture";
  name: string;
}

/** Writes the posture that a bus's machine reports into a posture, or adds one. ``on`` is the robot of a new movement. */
export interface ReadPosture {
  type: "read_posture";
  bus?: string;
  posture?: number;
  on?: string;
}

/** Starts or stops a recording. */
export interface Record {
  type: "record";
  on: boolean;
}

/** Redoes the last undone step. */
export interface Redo {
  type: "redo";
}

/** Releases all inputs. */
export interface Release {
  type: "release";
}

/** Restores the initial state. */
export interface Reset {
  type: "reset";
}

/** Requests the tool's workspace, sampled with this number of postures; 0 cancels it. */
export interface SampleWorkspace {
  type: "workspace";
  count?: number;
}

/** Writes the changed files. */
export interface Save {
  type: "save";
}

/** Writes the scene and the files it needs to a new file, and continues with that. */
export interface SaveAs {
  type: "save_as";
  path: string;
  overwrite?: boolean;
}

/** Writes the movement, as TOML or into its robot's XML of Lima. */
export interface SaveMovement {
  type: "save_movement";
  path: string;
  overwrite?: boolean;
}

/** Displays the past at a time [s]; playing continues from there. */
export interface Seek {
  type: "seek";
  time: number;
}

/** Sends an order to a bus: a fault to inject, a frame to send. */
export interface SendBusOrder {
  type: "order";
  bus: string;
  name: string;
  args?: { [key: string]: boolean | number | string | number[] };
}

/** Sets an input or a parameter. */
export interface Set {
  type: "set";
  signal: string;
  value: number;
}

/** Replaces the edited movement; without a draft it is removed. ``what`` names the undo step; messages of one ``gesture`` are one step. ``selected`` is the index of a posture. The answer has the same ``number``, also if it is a refusal. */
export interface SetMovement {
  type: "set_movement";
  draft?: MovementDraft | null;
  selected?: number;
  on?: string;
  what?: string;
  gesture?: number;
  number?: number;
}

/** Sets the dragged tool and its settings; without a setup there is none. */
export interface SetReach {
  type: "set_reach";
  setup?: ReachSetup | null;
}

/** Requests contacts, the wanted posture, the ports and the frames of buses. ``forces`` are the constraint forces of joints and loops. ``cameras`` are the indices of the requested cameras among the scene's sensors. ``reach`` is the dragged tool, ``near`` the surroundings of its robot. */
export interface ShowBlocks {
  type: "show";
  contacts?: boolean;
  ghost?: boolean;
  forces?: boolean;
  ports?: boolean;
  frames?: boolean;
  cameras?: number[];
  reach?: boolean;
  near?: boolean;
}

/** Selects a ``posture`` by its index and shows it, or shows the movement at a time [s]. While paused, the joints are set directly; while running, their targets are set. */
export interface ShowMovement {
  type: "show_movement";
  posture?: number;
  time?: number;
}

/** Executes some steps while paused; a negative number goes back through history. */
export interface SingleStep {
  type: "step";
  steps?: number;
}

/** Simulated seconds per real second; 0 is as fast as possible. */
export interface Speed {
  type: "speed";
  value: number;
}

/** Writes the displayed joint values into the file, as a named posture. */
export interface StorePosture {
  type: "store_posture";
  name: string;
}

/** Takes ownership of an input. */
export interface Take {
  type: "take";
  signal: string;
}

/** Trusts programs of the open scene or recording. ``once`` runs them as they are until something else is opened, ``content`` also later as long as they do not change, ``folder`` everything in their folder. ``programs`` are the keys of those that were shown; others, also changed ones, are not trusted. */
export interface TrustPrograms {
  type: "trust";
  how: "content" | "folder" | "once";
  programs: string[];
}

/** Undoes the last edit. */
export interface Undo {
  type: "undo";
}

/** Requests the values of these signals; their blocks carry ``number`` as flags. */
export interface Watch {
  type: "watch";
  number: number;
  signals: string[];
}

/** An attribute; ``value`` as in the file, ``words`` the allowed values. ``origin`` is file and line, ``source`` the owner of that file, ``help`` one sentence. */
export interface AttributeRow {
  key: string;
  value: string | number | boolean;
  unit: string;
  lo: number | null;
  hi: number | null;
  words: string[] | null;
  origin: string;
  editable: boolean;
  changed: boolean;
  source: "default" | "file" | "kit";
  help: string;
}

/** Answer to ``inspect``; ``note`` says what an edit would do, or why there is none. ``convert`` is set if a TOML copy could be edited; ``placement`` is the placed part whose drives replace a joint's own. */
export interface Attributes {
  type: "attributes";
  name: string;
  kind: string;
  rows: AttributeRow[];
  note: string;
  convert: boolean;
  placement: string;
}

/** New lines of a bus log while a client watches; ``skipped`` lines before them were left out. A client that begins to watch gets the newest known lines. Lines may come twice, but in order: they are numbered. */
export interface BusFrames {
  type: "frames";
  bus: string;
  lines: FrameLine[];
  skipped: number;
}

/** State of a bus: its process, its clients, its health. ``state`` is "starting", "waiting" (for a client), "active", "lost" (the policy on loss applies), "hung" (its process does not answer) or "off" (``problem`` says why); ``age`` is that of the port that has waited longest [s], null before the first command. */
export interface BusState {
  name: string;
  state: "active" | "hung" | "lost" | "off" | "starting" | "waiting";
  problem: string;
  endpoints: string[];
  pid: number;
  clients: number;
  restarts: number;
  age: number | null;
  missed_deadlines: number;
  losses: number;
  inputs: number;
  refused: number;
  counters: { [key: string]: number };
  faults: RunningFault[];
}

/** Answer to a request that failed; ``where`` is the origin, ``reason`` as in ``Refused``. */
export interface ErrorResponse {
  error: string;
  where: string;
  reason: "" | "exists" | "owned" | "reload" | "site" | "token";
}

/** An event of the session. ``source`` is the agent, bus or component that logged it; empty for the session itself; ``error`` the reported error; ``failed`` the operation that it ended. */
export interface Event {
  type: "event";
  step: number;
  level: "approximated" | "error" | "info" | "mark" | "note" | "warning";
  text: string;
  source: string;
  error: ErrorRecord | null;
  failed: "" | "edit" | "message" | "step";
}

/** A fault of the scene or an injected one: its target, its schedule, and whether it is active. ``count`` is how often it has begun; ``from_scene`` whether the scene defines it. */
export interface FaultState {
  name: string;
  kind: string;
  about: string;
  when: string;
  active: boolean;
  pending: boolean;
  count: number;
  from_scene: boolean;
}

/** Files were written. */
export interface FilesSaved {
  type: "saved";
  files: string[];
}

/** A line of a bus log: ``data`` in hexadecimal, ``mark`` the effect of a fault on it. ``way`` is empty for a note; ``text`` describes the content for people. */
export interface FrameLine {
  number: number;
  time: number;
  way: string;
  address: string;
  data: string;
  text: string;
  mark: string;
  kind: "data" | "error" | "note" | "remote";
}

/** Answer to ``/api/gallery``. */
export interface Gallery {
  version: string;
  scenes: GalleryScene[];
  kits: GalleryKit[];
  recent: Recent[];
  recordings: RecordingCard[];
}

/** The gallery has changed and should be requested again. */
export interface GalleryChanged {
  type: "gallery_changed";
}

/** A kit and its parts. */
export interface GalleryKit {
  name: string;
  parts: GalleryPart[];
}

/** A part of a kit. */
export interface GalleryPart {
  name: string;
  title: string;
  picture: string | null;
}

/** A scene of a kit; ``picture`` is a URL or null. */
export interface GalleryScene {
  name: string;
  title: string;
  engine: string;
  picture: string | null;
  kit: string;
}

/** The first message to a client. ``address`` is the studio's address for other machines; empty if they cannot reach it. ``key`` is this client's own: it proves to ``/api/import`` that the uploader drives. */
export interface Hello {
  type: "hello";
  protocol: number;
  version: string;
  you: string;
  driver: string | null;
  people: string[];
  scene_open: boolean;
  address: string;
  key: string;
}

/** Answer to ``/api/import``: the file to open. */
export interface Imported {
  scene: string;
}

/** The edited movement; ``draft`` is null while there is none. ``on`` is the part that it moves, one of ``robots``; its joints are named within that part. ``selected`` is the index of a posture, −1 for none; ``shown`` is whether the robot has that posture now, so that drags edit it. ``problems`` say why it cannot be played, ``mirror`` why it cannot be mirrored. ``file`` is where it was last saved or opened, ``suggestion`` where it could be saved, ``files`` what can be opened, ``buses`` those with a machine whose posture can be read. ``number`` is that of the last ``set_movement``: a state with an earlier number than the last one sent is outdated. */
export interface MovementState {
  type: "movement";
  draft: MovementDraft | null;
  on: string;
  robots: string[];
  selected: number;
  shown: boolean;
  problems: string[];
  mirror: string;
  file: string;
  dirty: boolean;
  suggestion: string;
  files: string[];
  buses: string[];
  number: number;
}

/** Playback time in the movement [s], and whether it is being played. */
export interface MovementTime {
  type: "movement_time";
  time: number;
  playing: boolean;
}

/** The owner of each input. */
export interface Owners {
  type: "owners";
  owners: { [key: string]: string };
}

/** The connected clients, the driver, and the client that requests control. */
export interface People {
  type: "people";
  driver: string | null;
  people: string[];
  requester: string | null;
}

/** State of buses and ports, at most ten times a second, while a client watches. ``ports`` are in the order of the scene's buses and their ports; ``values``, ``raw`` (the codes on the wire), ``owners`` and ``held`` are in the order of their signals. */
export interface Ports {
  type: "ports";
  version: number;
  time: number;
  buses: BusState[];
  ports: PortState[];
  values: (number | null)[];
  raw: (number | null)[];
  owners: string[];
  held: boolean[];
  faults: FaultState[];
}

/** State of a port: ``age`` of its last command [s], null before the first; ``lost`` with it. */
export interface PortState {
  age: number | null;
  missed_deadlines: number;
  lost: boolean;
}

/** Settings of the dragged tool; ``setup`` is null while there is none. ``chain`` are the joints that carry the tool, ``joints`` those that may move and ``columns`` the degrees of freedom of its Jacobian's columns, both empty while the solver is being prepared. */
export interface ReachState {
  type: "reaching";
  setup: ReachSetup | null;
  chain: string[];
  joints: string[];
  columns: string[];
}

/** A recent file; ``when`` in seconds since 1970, ``missing`` if it no longer exists. */
export interface Recent {
  path: string;
  name: string;
  when: number;
  missing: boolean;
}

/** A recording in the studio's folder: its length [s], its size [byte]. ``when`` in seconds since 1970; ``problem`` says why it cannot be shown, or only in part. */
export interface RecordingCard {
  path: string;
  scene: string;
  when: number;
  duration: number;
  size: number;
  problem: string;
}

/** A request was not carried out; ``what`` is the type of its message. ``key`` names the subject; ``reason`` is for programs: the file exists, a program owns the joints, the page must be reloaded, the token is wrong, the request comes from another site; ``error`` is the error with its origin and hint. */
export interface Refused {
  type: "refused";
  what: string;
  text: string;
  key: string;
  reason: "" | "exists" | "owned" | "reload" | "site" | "token";
  error: ErrorRecord | null;
}

/** An active fault on a bus, with the number of affected frames; ``name`` is the scene's. ``text`` describes it for people; ``chance`` is the probability for each frame. */
export interface RunningFault {
  number: number;
  name: string;
  text: string;
  hits: number;
  kind: string;
  chance: number;
  seed: number;
}

/** No scene is open anymore. */
export interface SceneClosed {
  type: "closed";
}

/** The open scene; frames carry its ``version``. ``opened`` changes each time something is opened; an edit, or a save under another name, keeps it. ``mode`` is kinematic, emulation or simulation; empty if there is no choice. ``untrusted`` are the programs that do not run until the driver trusts them. ``undriven`` are the joints of imported robots that move freely because nothing drives them. */
export interface SceneMessage {
  type: "scene";
  version: number;
  name: string;
  title: string;
  file: string;
  step: number;
  gravity: number[];
  engines: string[];
  dirty: boolean;
  can_undo: boolean;
  can_redo: boolean;
  editable: boolean;
  bodies: Body[];
  elements: ElementView[];
  joints: JointView[];
  anchors: AnchorView[];
  loops: LoopView[];
  sensors: SensorView[];
  agents: AgentView[];
  signals: SignalView[];
  viewpoints: ViewpointView[];
  lights: LightView[];
  background: string;
  postures: string[];
  findings: FindingView[];
  replay: ReplayView | null;
  buses: BusView[];
  opened: number;
  mode: string;
  untrusted: UntrustedProgram[];
  undriven: string[];
}

/** Answer to ``/api/share``: the token, for an address to give to others. */
export interface ShareToken {
  token: string;
}

/** State of the run; about ten times a second. ``mode`` is the clock's; ``rtf`` simulated per real time; ``gap`` the largest joint gap [m] and ``gap_at`` the loop that has it; ``history`` the first and last stored time [s]; ``seeking`` whether the poses are of the past; ``hidden`` the indices of elements that are not drawn. */
export interface Status {
  type: "status";
  time: number;
  running: boolean;
  speed: number;
  mode: string;
  lateness: number;
  rtf: number;
  gap: number;
  gap_at: string;
  energy: number;
  step: number;
  recording: string | null;
  history: [number, number] | null;
  seeking: boolean;
  version: number;
  hidden: number[];
}

/** The steps to undo and redo, and the files to save. ``undo`` and ``redo`` name the steps; ``files`` have unsaved changes; ``is_own_file`` is whether they can be saved in place, else under another name such as ``suggestion``. */
export interface UndoState {
  type: "undo";
  can_undo: boolean;
  can_redo: boolean;
  dirty: boolean;
  undo: string;
  redo: string;
  files: string[];
  is_own_file: boolean;
  suggestion: string;
}

/** Progress of the workspace cloud of ``tip``: ``done`` of ``count`` postures. ``hash`` is requested as ``/api/mesh/<hash>``: positions x y z, float32; empty until the cloud exists. With a ``count`` of 0 there is none. */
export interface WorkspaceCloudState {
  type: "cloud";
  tip: string;
  done: number;
  count: number;
  hash: string;
}

/** An agent, which sets targets; ``file`` is its program, if it has one. */
export interface AgentView {
  name: string;
  type: string;
  file: string;
}

/** An anchor, posed in the frame of its body. */
export interface AnchorView {
  name: string;
  on: string;
  body: number;
  pose: number[];
  fits: string;
}

/** A rigid body; number 0 is the world. Poses are in the same order. ``com`` is the center of mass [m] and ``inertia`` six numbers about it, xx yy zz xy xz yz [kg m²], in the frame of the body. */
export interface Body {
  name: string;
  part: string;
  static: boolean;
  mass: number;
  com: number[];
  inertia: number[];
}

/** A bus and its ports; ``about`` describes its type, ``orders`` are those it supports. ``faults`` are the kinds that its wire supports, ``frames`` the layouts of its frames. */
export interface BusView {
  name: string;
  kind: string;
  about: string;
  plant: string;
  lockstep: boolean;
  deadline: number;
  on_loss: string;
  orders: string[];
  faults: string[];
  ports: PortView[];
  frames: FrameView[];
}

/** A camera in a frame (7 numbers) in a body: it looks along x, z is up. ``opening`` is its vertical angle of view [rad], ``aspect`` its width over its height, ``far`` its range [m]. */
export interface CameraView {
  body: number;
  frame: number[];
  opening: number;
  aspect: number;
  far: number;
}

/** A degree of freedom of a joint; ``lo`` and ``hi`` are null if there is no limit. */
export interface Dof {
  name: string;
  unit: string;
  lo: number | null;
  hi: number | null;
  signal: string;
  target_signal: string | null;
  speed_signal: string | null;
  effort_signal: string | null;
}

/** An element, posed in the frame of its body. */
export interface ElementView {
  name: string;
  label: string;
  part: string;
  body: number;
  pose: number[];
  origin: string;
  shapes: ShapeView[];
}

/** The rays of a lidar: in the x-y plane of a frame (7 numbers) in a body, at angles [rad]. Their range is ``range`` [m]; ``signals`` are the distances of the hits [m]. */
export interface FanView {
  body: number;
  frame: number[];
  angles: number[];
  range: number;
  signals: string[];
}

/** A feature that an engine rejects or approximates. */
export interface FindingView {
  level: "approximated" | "error" | "info" | "mark" | "note" | "warning";
  about: string;
  text: string;
  origin: string;
}

/** Bits of a frame: value = raw · scale + offset. ``start`` counts as in a DBC file (byte · 8 + bit): the lowest bit, or the highest if ``big_endian``; ``real`` bits are an IEEE number, ``words`` are labels of raw values. With a ``parent`` it is in the frame only while that signal's raw value is within one of ``ranges``. */
export interface FrameSignalView {
  name: string;
  start: number;
  bits: number;
  big_endian: boolean;
  signed: boolean;
  real: boolean;
  scale: number;
  offset: number;
  unit: string;
  words: { [key: string]: string };
  parent: string;
  ranges: [number, number][];
}

/** The layout of a frame; ``address`` and ``way`` as in the log, empty for both directions. ``name`` is from a DBC file; empty if there is none. */
export interface FrameView {
  address: string;
  way: string;
  name: string;
  length: number;
  signals: FrameSignalView[];
}

/** Limits of a joint [rad or m, s]; null if unlimited. */
export interface JointLimits {
  speed: number | null;
  acceleration: number | null;
  jerk: number | null;
}

/** A joint between ``parent`` and ``body``. ``x0`` is the pose of the body in its parent at joint value 0; ``pivot`` and ``axis`` are in the frame of the body. ``path`` has the points x y z of a rail, one after the other, in the frame of the parent; it is empty for other joints. */
export interface JointView {
  name: string;
  label: string;
  part: string;
  type: string;
  body: number;
  parent: number;
  x0: number[];
  pivot: number[];
  axis: number[];
  axis2: number[];
  pitch: number;
  origin: string;
  drive: "effort" | "kinematic" | "motor" | "none" | "servo";
  dofs: Dof[];
  path: number[];
}

/** A light: a sun (parallel, from ``xyz`` towards ``look_at``) or a lamp. */
export interface LightView {
  name: string;
  kind: string;
  xyz: number[];
  look_at: number[];
  color: string;
  strength: number;
  shadows: boolean;
}

/** A connection that closes a loop between the bodies ``a`` and ``b``. */
export interface LoopView {
  name: string;
  a: number;
  b: number;
  joint: string;
}

/** A mark or event in a recording; ``level`` is "mark" for a user's mark. ``time`` is in the time of the recording [s]. */
export interface MarkView {
  time: number;
  level: "approximated" | "error" | "info" | "mark" | "note" | "warning";
  text: string;
  source: string;
}

/** A movement being edited: postures at times, joints named within their part. */
export interface MovementDraft {
  name: string;
  postures: PostureDraft[];
  interpolation: "hold" | "linear" | "smooth";
  planner: "" | "acceleration" | "cruise" | "energy" | "jerk" | "speed";
  limits: { [key: string]: JointLimits };
  title: string;
}

/** A signal of a port: ``name`` in the scene, ``label`` in its port. ``bits`` is 0 for a plain number; ``address`` is its address on the bus as text; ``behind`` is the scene's signal behind it, or empty. */
export interface PortSignalView {
  name: string;
  label: string;
  role: "command" | "parameter" | "sensor";
  unit: string;
  lo: number | null;
  hi: number | null;
  bits: number;
  address: string;
  behind: string;
}

/** A device on a bus; ``group`` is a path, ``joint`` the joint behind it, or empty. */
export interface PortView {
  name: string;
  group: string;
  joint: string;
  signals: PortSignalView[];
}

/** Joint values at a time [s]; ``speeds`` and ``planner`` are for a planner. */
export interface PostureDraft {
  time: number;
  joints: { [key: string]: number };
  speeds: { [key: string]: number };
  planner: "" | "acceleration" | "cruise" | "energy" | "jerk" | "speed";
}

/** The line of a ray sensor in the frame of a body: from ``start`` [m] along a unit vector. Its range is ``range`` [m]; ``signal`` is the distance of the hit [m]. */
export interface RayView {
  body: number;
  start: number[];
  direction: number[];
  range: number;
  signal: string;
}

/** A goal of inverse kinematics; priority 0 comes first, equal priorities share by weight. A ``point`` of ``frame`` is held in position; other goals concern the tool or the whole robot. */
export interface ReachAim {
  kind: "center of mass" | "orientation" | "point" | "position" | "posture";
  priority: number;
  weight: number;
  frame: string;
  point: [number, number, number];
}

/** Settings of a dragged tool. ``tip`` is its element or anchor, and ``point`` the tool point in it; ``first`` is the joint where the active chain begins, empty for all. Shapes keep the distance ``keep`` [m] from others, and with ``itself`` from those of their own robot; null for none. With ``hold`` the tool is held while another link is dragged. */
export interface ReachSetup {
  tip: string;
  point: [number, number, number];
  first: string;
  aims: ReachAim[];
  damping: "constant" | "robotix" | "smallest";
  damping_value: number;
  keep: number | null;
  itself: boolean;
  hold: boolean;
  ellipsoid: "dynamic" | "force" | "impact" | "velocity";
}

/** The displayed recording; its length [s], and when it was made (ISO 8601). ``live`` says whether a scene is suspended behind it, ``unsaved`` which of that scene's files have unsaved changes, ``problem`` what is wrong with the recording. */
export interface ReplayView {
  path: string;
  name: string;
  created: string;
  duration: number;
  live: boolean;
  problem: string;
  marks: MarkView[];
  unsaved: string[];
}

/** A sensor and its signals. */
export interface SensorView {
  name: string;
  type: string;
  on: string;
  signals: string[];
  ray: RayView | null;
  fan: FanView | null;
  camera: CameraView | null;
}

/** A shape of an element, posed in the frame of its body. Sizes: box x y z; cylinder radius, length; cone radius, length, radius at the top; sphere radius; capsule radius, length; plane x y; mesh none, its triangles are scaled. The axis is z, through the center. ``mesh`` and ``texture`` are requested as ``/api/mesh/<hash>``. */
export interface ShapeView {
  kind: "box" | "capsule" | "cone" | "cylinder" | "mesh" | "plane" | "sphere";
  size: number[];
  pose: number[];
  color: string;
  visible: boolean;
  collide: boolean;
  mesh: string | null;
  texture: string | null;
  texture_repeat: [number, number];
}

/** A named value; ``lo`` and ``hi`` are null if there is no limit. */
export interface SignalView {
  name: string;
  unit: string;
  lo: number | null;
  hi: number | null;
  direction: "input" | "output" | "param";
}

/** A program that does not run until it is trusted. ``key`` identifies the program with everything that it can import. ``folder`` is the folder that can be trusted; empty if there is none. ``modules`` are the other files that it can import. ``replaces`` says that an earlier version, which is trusted, runs meanwhile. */
export interface UntrustedProgram {
  key: string;
  agent: string;
  file: string;
  text: string;
  folder: string;
  modules: string[];
  replaces: boolean;
}

/** A viewpoint; ``opening`` is the vertical angle of view [rad]. */
export interface ViewpointView {
  name: string;
  xyz: number[];
  look_at: number[];
  opening: number;
}

export type FromServer =
  | Hello
  | SceneMessage
  | SceneClosed
  | Status
  | Event
  | Owners
  | Attributes
  | Refused
  | People
  | UndoState
  | FilesSaved
  | GalleryChanged
  | Ports
  | BusFrames
  | ReachState
  | WorkspaceCloudState
  | MovementState
  | MovementTime;

export type FromClient =
  | Open
  | CloseScene
  | Play
  | Pause
  | SingleStep
  | Reset
  | Speed
  | Seek
  | BackToLive
  | Set
  | Take
  | TrustPrograms
  | Release
  | DragJoint
  | Posture
  | Grab
  | EndGrab
  | Watch
  | ShowBlocks
  | Override
  | SendBusOrder
  | FaultRequest
  | Inspect
  | EditAttribute
  | CloseLoop
  | GiveServos
  | Undo
  | Redo
  | Save
  | SaveAs
  | SetReach
  | DragTool
  | EndToolDrag
  | SampleWorkspace
  | NewScene
  | StorePosture
  | ConvertToToml
  | ForgetRecent
  | Record
  | Mark
  | ContinueRecording
  | ControlRequest
  | ControlGrant
  | Ack
  | SetMovement
  | AddPosture
  | ShowMovement
  | PlayMovement
  | MirrorMovement
  | ReadPosture
  | OpenMovement
  | SaveMovement;
