// Made by `python -m linkwork.server.typescript --write` from src/linkwork/server/messages.py; do not edit.

export const PROTOCOL = 2;
export const PICTURE = 1;
export const POSES = 1;
export const SIGNALS = 2;
export const CONTACTS = 3;
export const GHOST = 4;
export const IMAGE = 7;
export const FORCES = 8;
export const REACH = 9;
export const NEAR = 10;
export const ACK_EACH = 6;
export const PULL_RATE = 15;

/** Numbers in a row of each kind of block, and bytes of each. */
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

/** A rigid body; number 0 is the world. Their order is that of the poses. ``com`` is the centre of mass [m] and ``inertia`` six numbers about it, xx yy zz xy xz yz [kg m²], in the frame of the body. */
export interface Body {
  name: string;
  part: string;
  static: boolean;
  mass: number;
  com: number[];
  inertia: number[];
}

/** A shape of an element, posed in the frame of its body. Sizes: box x y z; cylinder radius, length; cone radius, length, radius at the top; sphere radius; capsule radius, length; plane x y; mesh none, its triangles are to scale. The axis is z, through the centre. ``mesh`` and ``texture`` are to be asked for as ``/api/mesh/<hash>``. */
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

/** A degree of freedom of a joint; ``lo`` and ``hi`` are null where there is no limit. */
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

/** A joint between ``parent`` and ``body``. ``x0`` is the pose of the body in its parent at joint value 0; ``pivot`` and ``axis`` are in the frame of the body. ``path`` has the points x y z of a rail, one behind the other, in the frame of the parent; it is empty for others. */
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

/** An anchor, posed in the frame of its body. */
export interface AnchorView {
  name: string;
  on: string;
  body: number;
  pose: number[];
  fits: string;
}

/** A connection that closes a loop between the bodies ``a`` and ``b``. */
export interface LoopView {
  name: string;
  a: number;
  b: number;
  joint: string;
}

/** The line of a ray sensor in the frame of a body: from ``start`` [m] along a unit vector. It sees as far as ``range`` [m]; ``signal`` is the distance of what it meets [m]. */
export interface RayView {
  body: number;
  start: number[];
  direction: number[];
  range: number;
  signal: string;
}

/** The rays of a lidar: in the x-y plane of a frame (7 numbers) in a body, at angles [rad]. They see as far as ``range`` [m]; ``signals`` are the distances of what they meet [m]. */
export interface FanView {
  body: number;
  frame: number[];
  angles: number[];
  range: number;
  signals: string[];
}

/** A camera in a frame (7 numbers) in a body: it looks along x, z is up. ``opening`` is its vertical angle of view [rad], ``aspect`` its width by its height; it sees as far as ``far`` [m]. */
export interface CameraView {
  body: number;
  frame: number[];
  opening: number;
  aspect: number;
  far: number;
}

/** A sensor and the signals it fills. */
export interface SensorView {
  name: string;
  type: string;
  on: string;
  signals: string[];
  ray: RayView | null;
  fan: FanView | null;
  camera: CameraView | null;
}

/** What decides targets; ``file`` is its program, if it has one. */
export interface AgentView {
  name: string;
  type: string;
  file: string;
}

/** A named value; ``lo`` and ``hi`` are null where there is no limit. */
export interface SignalView {
  name: string;
  unit: string;
  lo: number | null;
  hi: number | null;
  direction: "input" | "output" | "param";
}

/** Where to look from; ``opening`` is the vertical angle [rad]. */
export interface ViewpointView {
  name: string;
  xyz: number[];
  look_at: number[];
  opening: number;
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

/** Something that an engine cannot do, or does only softly. */
export interface FindingView {
  level: "error" | "info" | "mark" | "note" | "soft" | "warning";
  about: string;
  text: string;
  origin: string;
}

/** A signal of a port: ``name`` in the scene, ``label`` in its port. ``bits`` is 0 for a plain number; ``address`` is where it stands on the bus, for people; ``behind`` the scene's signal behind it, or empty. */
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

/** Bits of a frame: value = raw · scale + offset. ``start`` counts as a DBC file does (byte · 8 + bit): the lowest bit, or the highest if ``big_endian``; ``real`` bits are an IEEE number, ``words`` are for raw values. With a ``parent`` it is in the frame only while that one's raw value is within one of ``ranges``. */
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

/** What the bytes of a frame mean; ``address`` and ``way`` as in the log, empty for both ways. ``name`` is a DBC file's; empty where none names it. */
export interface FrameView {
  address: string;
  way: string;
  name: string;
  length: number;
  signals: FrameSignalView[];
}

/** A bus and its ports; ``about`` says its type in words, ``orders`` what it can be told. ``faults`` are the kinds that its wire knows, ``frames`` what its frames hold. */
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

/** Something that a recording tells of; ``level`` is "mark" for what people marked. ``time`` is that of the recording [s]. */
export interface MarkView {
  time: number;
  level: "error" | "info" | "mark" | "note" | "soft" | "warning";
  text: string;
  source: string;
}

/** The recording that is looked at; its length [s], and when it was made (ISO 8601). ``live`` says whether a scene waits behind it, ``unsaved`` which of that scene's files have changes to save, ``problem`` what is wrong with the recording. */
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

/** Something that reaching wants; priority 0 comes first, what is equal shares by weight. A ``point`` of ``frame`` stays where it is; the others are of the tool, or of the whole robot. */
export interface ReachAim {
  kind: "centre of mass" | "orientation" | "point" | "position" | "posture";
  priority: number;
  weight: number;
  frame: string;
  point: [number, number, number];
}

/** How a tool is dragged. ``tip`` is its element or anchor, and ``point`` the tool point in it; ``first`` is the joint where the active chain begins, empty for all. Shapes keep the distance ``keep`` [m] from others, and with ``itself`` from those of their own robot; null for none. With ``hold`` the tool stays while another link is dragged. */
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

/** Values that joints reach at a time [s]; ``speeds`` and ``planner`` are for a planner. */
export interface TimedPosture {
  time: number;
  joints: { [key: string]: number };
  speeds: { [key: string]: number };
  planner: "" | "acceleration" | "cruise" | "energy" | "jerk" | "speed";
}

/** What a joint may do at most [rad or m, s]; null where nothing limits it. */
export interface JointLimits {
  speed: number | null;
  acceleration: number | null;
  jerk: number | null;
}

/** A movement as it is edited: postures at times, joints named within their part. */
export interface MovementDraft {
  name: string;
  postures: TimedPosture[];
  interpolation: "hold" | "linear" | "smooth";
  planner: "" | "acceleration" | "cruise" | "energy" | "jerk" | "speed";
  limits: { [key: string]: JointLimits };
  title: string;
}

/** What a client is told first. ``address`` is where other machines reach the studio; empty where they cannot. ``key`` is this client's own: who brings files to ``/api/import`` shows by it that it is who drives. */
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

/** The scene that is open; frames carry its ``version``. ``opened`` differs each time that something is opened; an edit, or a save under another name, keeps it. ``mode`` is what moves it, kinematic, emulation or simulation; empty where it offers no choice. */
export interface Scene {
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
}

/** No scene is open any more. */
export interface Closed {
  type: "closed";
}

/** How the run stands; about ten times a second. ``mode`` is the clock's; ``rtf`` simulated per real time; ``gap`` the largest joint gap [m] and ``gap_at`` the loop that has it; ``history`` the first and last time one can go back to [s]; ``seeking`` whether the poses are those of the past; ``unseen`` the elements, by their place in the scene's list, that are not to be drawn now. */
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
  unseen: number[];
}

/** Something that happened. */
export interface Event {
  type: "event";
  step: number;
  level: "error" | "info" | "mark" | "note" | "soft" | "warning";
  text: string;
  source: string;
}

/** Who owns which input. */
export interface Owners {
  type: "owners";
  owners: { [key: string]: string };
}

/** A fault at work on a bus, and how many frames it has struck; ``name`` is the scene's. */
export interface RunningFault {
  number: number;
  name: string;
  text: string;
  hits: number;
}

/** A fault of the scene, or one that was injected: what it strikes, when, and whether it does. ``count`` is how often it has begun; ``own`` whether it is the scene's and not injected. */
export interface FaultState {
  name: string;
  kind: string;
  about: string;
  when: string;
  active: boolean;
  waits: boolean;
  count: number;
  own: boolean;
}

/** How a bus is: its process, who is connected, its health. ``state`` is "starting", "waiting" (for a partner), "active", "lost" (the policy on loss is at work) or "off" (``problem`` says why); ``age`` is that of the port that has waited longest [s], null before anything came. */
export interface BusState {
  name: string;
  state: "active" | "lost" | "off" | "starting" | "waiting";
  problem: string;
  doors: string[];
  pid: number;
  partners: number;
  restarts: number;
  age: number | null;
  misses: number;
  losses: number;
  feeds: number;
  refused: number;
  counters: { [key: string]: number };
  faults: RunningFault[];
}

/** How a port is: ``age`` of its last command [s], null before the first; ``lost`` with it. */
export interface PortState {
  age: number | null;
  misses: number;
  lost: boolean;
}

/** How buses and ports stand, at most ten times a second, while somebody looks. ``ports`` are in the order of the scene's buses and their ports; ``values``, ``raw`` (the codes on the wire), ``owners`` and ``held`` are in the order of their signals. */
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

/** A line of a bus log: ``data`` in hexadecimal, ``mark`` what a fault did to it. */
export interface FrameLine {
  number: number;
  time: number;
  way: string;
  address: string;
  data: string;
  text: string;
  mark: string;
}

/** New lines of a bus log while somebody looks; ``skipped`` before them were too many. Who begins to look gets the newest lines that are known. Lines may come twice, not out of order: their numbers tell. */
export interface Frames {
  type: "frames";
  bus: string;
  lines: FrameLine[];
  skipped: number;
}

/** An attribute; ``value`` is as the file would say it, ``words`` what is allowed. ``origin`` is file and line, ``source`` whose file that is, ``help`` one sentence for people. */
export interface Row {
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

/** Answer to ``inspect``; ``note`` says what an edit would do, or why there is none. ``convert`` is set where a copy in TOML could be edited; ``placement`` is the placed part whose drives replace a joint's own. */
export interface Attributes {
  type: "attributes";
  name: string;
  kind: string;
  rows: Row[];
  note: string;
  convert: boolean;
  placement: string;
}

/** Something asked for was not done; ``what`` is the type of the message that asked. */
export interface Refused {
  type: "refused";
  what: string;
  text: string;
  key: string;
}

/** Who is here, who drives, and who asks to. */
export interface People {
  type: "people";
  driver: string | null;
  people: string[];
  asks: string | null;
}

/** What can be undone, redone and saved. ``undo`` and ``redo`` name the steps; ``files`` have something to save; ``own`` is whether they can be saved where they are, else under another name, for instance ``suggestion``. */
export interface UndoState {
  type: "undo";
  can_undo: boolean;
  can_redo: boolean;
  dirty: boolean;
  undo: string;
  redo: string;
  files: string[];
  own: boolean;
  suggestion: string;
}

/** Files were written. */
export interface Saved {
  type: "saved";
  files: string[];
}

/** The gallery is to be asked for again. */
export interface GalleryChanged {
  type: "gallery_changed";
}

/** How the tool is dragged now; ``setup`` is null while none is. ``chain`` are the joints that carry the tool, ``joints`` those that may move and ``columns`` the degrees of freedom that its Jacobian has columns of, both empty while the mathematics are being made ready. */
export interface Reaching {
  type: "reaching";
  setup: ReachSetup | null;
  chain: string[];
  joints: string[];
  columns: string[];
}

/** How far the cloud of places in reach of ``tip`` is: ``done`` of ``count`` postures. ``hash`` is to be asked for as ``/api/mesh/<hash>``: places x y z, float32; empty until there is one. A ``count`` of 0 says that there is none any more. */
export interface Cloud {
  type: "cloud";
  tip: string;
  done: number;
  count: number;
  hash: string;
}

/** The movement that is being edited; ``draft`` is null while there is none. ``on`` is the part that it moves, one of ``robots``; its joints are named within that part. ``selected`` is the number of a posture, −1 for none; ``shown`` is whether the robot has that posture now, so that what a hand moves goes into it. ``problems`` say what keeps it from being played, ``mirror`` why it cannot be mirrored. ``file`` is where it was last saved or opened, ``suggestion`` where it could be saved, ``files`` what can be opened, ``buses`` those with a machine whose posture can be read. ``number`` is that of the last ``set_movement``: what has an earlier one than you sent last is of the time before it. */
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

/** Where in the movement the robot is [s], and whether it is being played. */
export interface MovementTime {
  type: "movement_time";
  time: number;
  playing: boolean;
}

/** Opens a scene or part: a kit's name for it, or a recent or imported file. While a recording is looked at, a scene with changes that are not saved may wait behind it: only with ``discard`` it is given up. */
export interface Open {
  type: "open";
  scene: string;
  discard?: boolean;
}

/** Goes back to the gallery; ``discard`` is as for ``open``. */
export interface CloseScene {
  type: "close_scene";
  discard?: boolean;
}

/** Lets time run. */
export interface Play {
  type: "play";
}

/** Stops time. */
export interface Pause {
  type: "pause";
}

/** Does some steps while paused; a negative number goes back through history. */
export interface Step {
  type: "step";
  steps?: number;
}

/** Goes back to the first state. */
export interface Reset {
  type: "reset";
}

/** Simulated seconds per real second; 0 is as fast as possible. */
export interface Speed {
  type: "speed";
  value: number;
}

/** Shows the past at a time [s]; playing goes on from there. */
export interface Seek {
  type: "seek";
  time: number;
}

/** Shows the present again. */
export interface Live {
  type: "live";
}

/** Sets an input or a parameter. */
export interface Set {
  type: "set";
  signal: string;
  value: number;
}

/** Takes an input over. */
export interface Take {
  type: "take";
  signal: string;
}

/** Gives all inputs back. */
export interface Release {
  type: "release";
}

/** Moves a joint itself, while paused. What one movement of a hand asks for has the same ``gesture`` and is one step of undo; 0 is a step of its own. */
export interface Place {
  type: "place";
  joint: string;
  dof: string;
  value: number;
  gesture?: number;
}

/** Puts the robot into a named posture. */
export interface Posture {
  type: "posture";
  name: string;
}

/** Pulls a point of an element (in its frame) towards a place (in the world's). */
export interface Grab {
  type: "grab";
  element: string;
  point: [number, number, number];
  target: [number, number, number];
}

/** Ends a pull. */
export interface Drop {
  type: "drop";
}

/** Asks for the values of these signals; their blocks carry ``number`` as flags. */
export interface Watch {
  type: "watch";
  number: number;
  signals: string[];
}

/** Asks for contacts, for the wanted posture, for the ports and for the frames of buses. ``forces`` are those that hold joints and loops. ``cameras`` are those whose pictures are wanted, by their numbers among the scene's sensors. ``reach`` is about the tool that reaches, ``near`` what is near its robot. */
export interface Show {
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

/** Chooses which tool is dragged and how; without a setup none is. */
export interface SetReach {
  type: "set_reach";
  setup?: ReachSetup | null;
}

/** Drags the tool to a pose (7 numbers), or with ``frame`` a point of that to the place alone. Joints go there step by step, also after the hand has stopped. What one movement of a hand asks for has the same ``gesture``. */
export interface Reach {
  type: "reach";
  pose: [number, number, number, number, number, number, number];
  gesture?: number;
  frame?: string;
  point?: [number, number, number];
}

/** Ends a drag of the tool; one that is ``given_up`` puts the joints back where they were. */
export interface LetGo {
  type: "let_go";
  given_up?: boolean;
}

/** Asks for the cloud of places that the tool reaches, by so many postures; 0 gives it up. */
export interface Workspace {
  type: "workspace";
  count?: number;
}

/** Holds a port's signal at a value, whatever the bus or the scene says; null lets go. */
export interface Override {
  type: "override";
  signal: string;
  value?: number | null;
}

/** Tells a bus something that it knows: a fault to inject, a frame to send. */
export interface Order {
  type: "order";
  bus: string;
  name: string;
  args?: { [key: string]: boolean | number | string | number[] };
}

/** Begins or ends a fault: one of the scene by its name, or with a ``kind`` a new one. ``args`` are its parameters as a file would say them; with neither name nor kind all end. A ``person`` without a ``part`` is a visitor whom the scene gets, who comes from ``enters``. */
export interface Fault {
  type: "fault";
  name?: string;
  on?: boolean;
  kind?: string;
  args?: { [key: string]: boolean | number | string | number[] };
}

/** Asks for the attributes of a thing; ``kind`` is scene, part, element, joint or the like. */
export interface Inspect {
  type: "inspect";
  name: string;
  kind: string;
}

/** Changes an attribute in the file; a number, or words as the file would say them. */
export interface Edit {
  type: "edit";
  name: string;
  kind: string;
  key: string;
  value: string | number | boolean;
}

/** Holds two anchors together by a joint, in the file; ``axis`` is in the anchors' frames. */
export interface CloseLoop {
  type: "close_loop";
  a: string;
  b: string;
  joint?: string;
  axis?: [number, number, number];
}

/** Takes the last edit back. */
export interface Undo {
  type: "undo";
}

/** Does it again. */
export interface Redo {
  type: "redo";
}

/** Writes the files that changed. */
export interface Save {
  type: "save";
}

/** Writes the scene and what it needs to another file, and goes on there. */
export interface SaveAs {
  type: "save_as";
  path: string;
  overwrite?: boolean;
}

/** Opens a new scene, not saved yet: a floor, and on it a part of a kit if one is named. ``discard`` is as for ``open``. */
export interface NewScene {
  type: "new_scene";
  name: string;
  part?: string;
  discard?: boolean;
}

/** Writes the joint values that are shown into the file, as a named posture. */
export interface StorePosture {
  type: "store_posture";
  name: string;
}

/** Edits the movement: puts another in its place; without a draft there is none any more. ``what`` names the step for undo; steps of one ``gesture`` are one. ``selected`` is a posture. The answer has the same ``number``, also if it is refused. */
export interface SetMovement {
  type: "set_movement";
  draft?: MovementDraft | null;
  selected?: number;
  on?: string;
  what?: string;
  gesture?: number;
  number?: number;
}

/** Adds the posture that the robot has, or with ``wanted`` the one it is to have. Without a ``time`` it comes a second after the last. Where there is no movement one begins, of the part ``on``. */
export interface AddPosture {
  type: "add_posture";
  wanted?: boolean;
  time?: number | null;
  on?: string;
}

/** Selects a ``posture`` by its number and shows it, or shows the movement at a time [s]. While time stands the joints themselves go there; while it runs their targets do. */
export interface ShowMovement {
  type: "show_movement";
  posture?: number;
  time?: number;
}

/** Plays the movement on the robot, or ends that; ``take`` takes its joints over first. */
export interface PlayMovement {
  type: "play_movement";
  on?: boolean;
  take?: boolean;
}

/** Exchanges left and right in a posture, or in all of them. */
export interface MirrorMovement {
  type: "mirror_movement";
  posture?: number;
}

/** Takes what the machine behind a bus reports into a posture, or adds one of it. ``on`` is the robot that a new movement is of. */
export interface ReadPosture {
  type: "read_posture";
  bus?: string;
  posture?: number;
  on?: string;
}

/** Edits a movement of a file: a kit's name for it, or a file of the studio's folders. */
export interface OpenMovement {
  type: "open_movement";
  path: string;
  name?: string;
  on?: string;
}

/** Writes the movement, as TOML or beside its robot as document 004's XML. */
export interface SaveMovement {
  type: "save_movement";
  path: string;
  overwrite?: boolean;
}

/** Makes a copy in TOML of the file that is open, and opens that. */
export interface Convert {
  type: "convert";
}

/** Takes a file off the list of recent ones; the file itself stays. */
export interface Forget {
  type: "forget";
  path: string;
}

/** Begins or ends a recording. */
export interface Record {
  type: "record";
  on: boolean;
}

/** Puts a named mark into the recording that is being made. */
export interface Mark {
  type: "mark";
  text?: string;
}

/** Goes on live from the instant of the recording that is shown; ``discard`` as for ``open``. */
export interface GoOn {
  type: "go_on";
  discard?: boolean;
}

/** Asks to drive. */
export interface ControlRequest {
  type: "control_request";
}

/** Hands over to somebody. */
export interface ControlGrant {
  type: "control_grant";
  to: string;
}

/** How many pictures have arrived since the connection was made. */
export interface Ack {
  type: "ack";
  frame: number;
}

/** A scene of a kit; ``picture`` is an address or null. */
export interface GalleryScene {
  name: string;
  title: string;
  engine: string;
  picture: string | null;
  kit: string;
}

/** A part of a kit. */
export interface GalleryPart {
  name: string;
  title: string;
  picture: string | null;
}

/** A kit and its parts. */
export interface GalleryKit {
  name: string;
  parts: GalleryPart[];
}

/** A file that was open; ``when`` in seconds since 1970, ``missing`` if it is there no more. */
export interface Recent {
  path: string;
  name: string;
  when: number;
  missing: boolean;
}

/** A recording of the studio's folder: its length [s], its size [byte]. ``when`` in seconds since 1970; ``problem`` says why it cannot be shown, or not all of it. */
export interface RecordingCard {
  path: string;
  scene: string;
  when: number;
  duration: number;
  size: number;
  problem: string;
}

/** Answer to ``/api/gallery``. */
export interface Gallery {
  version: string;
  scenes: GalleryScene[];
  kits: GalleryKit[];
  recent: Recent[];
  recordings: RecordingCard[];
}

/** Answer to ``/api/import``: what to open. */
export interface Imported {
  scene: string;
}

/** Answer to a request that failed. */
export interface Problem {
  error: string;
  where: string;
}

export type FromServer =
  | Hello
  | Scene
  | Closed
  | Status
  | Event
  | Owners
  | Attributes
  | Refused
  | People
  | UndoState
  | Saved
  | GalleryChanged
  | Ports
  | Frames
  | Reaching
  | Cloud
  | MovementState
  | MovementTime;

export type FromClient =
  | Open
  | CloseScene
  | Play
  | Pause
  | Step
  | Reset
  | Speed
  | Seek
  | Live
  | Set
  | Take
  | Release
  | Place
  | Posture
  | Grab
  | Drop
  | Watch
  | Show
  | Override
  | Order
  | Fault
  | Inspect
  | Edit
  | CloseLoop
  | Undo
  | Redo
  | Save
  | SaveAs
  | SetReach
  | Reach
  | LetGo
  | Workspace
  | NewScene
  | StorePosture
  | Convert
  | Forget
  | Record
  | Mark
  | GoOn
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
