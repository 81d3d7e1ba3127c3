import { describe, expect, it } from "vitest";
import { answerHere } from "../src/app/session";
import { historyOf, valueOf, watch } from "../src/app/signals";
import { World } from "../src/player/recordingData";
import { Player } from "../src/player/player";
import type { SceneMessage } from "../src/protocol/messages";

const RATE = 50;
const LONG = 200 * RATE;

function world(first: number, count: number, height: number): World {
  const scene = {
    name: "swing",
    version: height,
    signals: [{ name: "arm/J1.angle", unit: "rad", direction: "out" }],
    replay: { path: "swing.mcap", name: "swing" },
  } as unknown as SceneMessage;
  const times = Float64Array.from({ length: count }, (_, i) => (first + i) / RATE);
  const values = Float32Array.from({ length: count }, (_, i) => height + i / count);
  return new World(scene, times, [], new Float32Array(7), new Float32Array(0), values);
}

describe("a recording in a page", () => {
  const film = {
    worlds: [world(0, LONG, 10), world(LONG, 100, 20)],
    meshes: new Map<string, ArrayBuffer>(),
    charts: [],
    version: "1",
  };
  const player = new Player(film);
  answerHere(player.answer);
  player.show(0);
  watch("charts", ["arm/J1.angle"]);

  it("keeps its whole curve however long it is played", () => {
    expect(historyOf("arm/J1.angle")?.times).toHaveLength(LONG);
    for (let i = 0; i < LONG; i += 7) player.show(i / RATE);
    expect(historyOf("arm/J1.angle")?.times).toHaveLength(LONG);
    expect(historyOf("arm/J1.angle")?.times.at(-1)).toBe((LONG - 1) / RATE);
  });

  it("has the curve of each world that is shown, there and back", () => {
    player.show(LONG / RATE + 1);
    expect(historyOf("arm/J1.angle")?.times).toHaveLength(100);
    expect(historyOf("arm/J1.angle")?.values[0]).toBe(20);
    expect(valueOf("arm/J1.angle")).toBeCloseTo(20.5);
    player.show(0);
    expect(historyOf("arm/J1.angle")?.times).toHaveLength(LONG);
    expect(valueOf("arm/J1.angle")).toBe(10);
  });
});
