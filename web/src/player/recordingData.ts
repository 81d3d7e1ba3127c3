import type { SceneMessage } from "../protocol/messages";
import { unpackBytes, unpackCounts, unpackFloats } from "./unpack";

/** The data that `page.py` writes into the page. */
interface PackedWorld {
  scene: SceneMessage;
  times: string;
  moving: number[];
  still: string;
  scale: number;
  poses: string;
  values: string;
}

interface PackedRecording {
  version: string;
  worlds: PackedWorld[];
  meshes: Record<string, string>;
  charts: string[];
}

const POSE = 7;

/** One of the recording's worlds, at each of its frames. */
export class World {
  private readonly columns: Map<string, number>;

  constructor(
    readonly scene: SceneMessage,
    readonly times: Float64Array,
    private readonly moving: number[],
    private readonly still: Float32Array,
    private readonly table: Float32Array,
    private readonly values: Float32Array,
  ) {
    this.columns = new Map(scene.signals.map((signal, i) => [signal.name, i]));
  }

  /** Index of the last frame that is not after a time. */
  at(time: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= time + 1e-9) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  poses(picture: number): Float32Array {
    const made = this.still.slice();
    const rows = this.times.length;
    this.moving.forEach((body, i) => {
      for (let k = 0; k < POSE; k++)
        made[POSE * body + k] = this.table[(POSE * i + k) * rows + picture]!;
    });
    return made;
  }

  /** All values of a signal; null if the page does not have it. */
  curve(signal: string): Float32Array | null {
    const place = this.columns.get(signal);
    const rows = this.times.length;
    return place === undefined ? null : this.values.subarray(place * rows, (place + 1) * rows);
  }
}

export interface RecordingData {
  worlds: World[];
  meshes: Map<string, ArrayBuffer>;
  charts: string[];
  version: string;
}

async function world(packed: PackedWorld): Promise<World> {
  const times = new Float64Array(await unpackBytes(packed.times));
  return new World(
    packed.scene,
    times,
    packed.moving,
    new Float32Array(await unpackBytes(packed.still)),
    await unpackCounts(packed.poses, times.length, packed.scale),
    await unpackFloats(packed.values),
  );
}

/** Unpacks the page's data. */
export async function readFilm(text: string): Promise<RecordingData> {
  const packed = JSON.parse(text) as PackedRecording;
  const meshes = new Map<string, ArrayBuffer>();
  for (const [name, data] of Object.entries(packed.meshes))
    meshes.set(name, await unpackBytes(data));
  return {
    worlds: await Promise.all(packed.worlds.map(world)),
    meshes,
    charts: packed.charts,
    version: packed.version,
  };
}
