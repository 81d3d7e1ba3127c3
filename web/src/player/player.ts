import { fillTrail, showSignals } from "../app/signals";
import { store } from "../app/store";
import { announce } from "../app/topics";
import { toast } from "../ui/toast";
import type { RecordingData, World } from "./recordingData";

const LOOKING = new Set(["show", "inspect", "drop", "release", "ack"]);
const FASTEST = 16;

/** Substitute for a server: shows the film at any time, or plays it. */
export class Player {
  private world: World | null = null;
  private picture = -1;
  private playing = false;
  private speed = 1;
  private since = { real: 0, time: 0 };
  private watched: string[] = [];
  readonly first: number;
  readonly last: number;

  constructor(private readonly film: RecordingData) {
    this.first = film.worlds[0]?.times[0] ?? 0;
    this.last = film.worlds.at(-1)?.times.at(-1) ?? 0;
  }

  readonly answer = (message: { type: string } & Record<string, unknown>): void => {
    switch (message.type) {
      case "play":
        this.play(true);
        break;
      case "pause":
        this.play(false);
        break;
      case "seek":
        this.show(Number(message["time"]));
        break;
      case "step":
        this.play(false);
        this.step(Number(message["steps"]));
        break;
      case "reset":
        this.show(this.first);
        break;
      case "speed":
        this.speed = Number(message["value"]) || FASTEST;
        this.begin();
        break;
      case "watch":
        this.watched = message["signals"] as string[];
        this.fill();
        this.values();
        return;
      default:
        if (!LOOKING.has(message.type))
          toast({ level: "info", text: "This page is a recording; nothing can be driven in it." });
        return;
    }
    this.publish();
  };

  private play(on: boolean): void {
    if (on && store.poseTime >= this.last - 1e-9) this.show(this.first);
    const before = this.playing;
    this.playing = on;
    this.begin();
    if (on && !before) requestAnimationFrame(this.tick);
  }

  private begin(): void {
    this.since = { real: performance.now(), time: store.poseTime };
  }

  private readonly tick = (): void => {
    if (!this.playing) return;
    const passed = (performance.now() - this.since.real) / 1000;
    this.draw(this.since.time + passed * this.speed);
    if (store.poseTime >= this.last - 1e-9) this.playing = false;
    this.publish();
    if (this.playing) requestAnimationFrame(this.tick);
  };

  private step(count: number): void {
    if (!this.world) return;
    const all = this.film.worlds.flatMap((w) => [...w.times]);
    const now = all.findLastIndex((t) => t <= store.poseTime + 1e-9);
    this.show(all[Math.min(all.length - 1, Math.max(0, now + count))]!);
  }

  /** Shows an instant; playing continues from there. */
  show(time: number): void {
    this.draw(time);
    this.begin();
    this.publish();
  }

  private draw(wanted: number): void {
    const time = Math.min(this.last, Math.max(this.first, wanted));
    const world = this.film.worlds.findLast((w) => w.times[0]! <= time + 1e-9);
    if (!world) return;
    if (world !== this.world) {
      this.world = world;
      this.picture = -1;
      store.scene = world.scene;
      announce("scene");
      this.fill(); // subscribers of unchanged signals do not request them again
    }
    store.poseTime = time;
    const picture = world.at(time);
    if (picture === this.picture) return;
    this.picture = picture;
    store.poses = world.poses(picture);
    announce("poses");
    this.values();
  }

  /** Fills the trails of watched signals with their whole curves in the displayed world. */
  private fill(): void {
    const { world } = this;
    if (!world) return;
    for (const name of this.watched) fillTrail(name, world.times, world.curve(name) ?? []);
  }

  private values(): void {
    const { world, picture } = this;
    if (!world || picture < 0) return;
    showSignals(new Float64Array(this.watched.map((name) => world.curve(name)?.[picture] ?? NaN)));
  }

  private publish(): void {
    store.status = {
      type: "status",
      time: store.poseTime,
      running: this.playing,
      speed: this.speed,
      mode: "recording",
      lateness: 0,
      rtf: this.playing ? this.speed : 0,
      gap: 0,
      gap_at: "",
      energy: 0,
      step: this.picture,
      recording: null,
      history: [this.first, this.last],
      seeking: false,
      version: this.world?.scene.version ?? 0,
      hidden: [],
    };
    announce("status");
  }
}
