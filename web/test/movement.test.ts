import { beforeEach, describe, expect, it } from "vitest";
import { forgetMovement, movement, receiveMovement } from "../src/app/movement";
import { answerHere } from "../src/app/session";
import { store } from "../src/app/store";
import { announce } from "../src/app/topics";
import { edit } from "../src/movement/edit";
import type { MovementDraft, MovementState } from "../src/protocol/messages";
import {
  duplicated,
  exchanged,
  limitOf,
  mannerOf,
  ticks,
  whyNotAt,
  withLimit,
  withManner,
  without,
  withTime,
  withValue,
} from "../src/movement/drafts";

const posture = (time: number, joints: Record<string, number>) => ({
  time,
  joints,
  speeds: {},
  planner: "" as const,
});
const draft: MovementDraft = {
  name: "m",
  postures: [posture(0, { a: 0, b: 1 }), posture(1, { a: 2 }), posture(3, { a: 3 })],
  interpolation: "smooth",
  planner: "",
  limits: {},
  title: "",
};

describe("edits of a movement", () => {
  it("change one value, or let a joint pass", () => {
    expect(withValue(draft, 1, "b", 5).postures[1]!.joints).toEqual({ a: 2, b: 5 });
    expect(withValue(draft, 0, "b", null).postures[0]!.joints).toEqual({ a: 0 });
    expect(draft.postures[0]!.joints).toEqual({ a: 0, b: 1 });
  });

  it("move a posture in time, not onto another", () => {
    expect(withTime(draft, 1, 1.23456).postures[1]!.time).toBe(1.235);
    expect(withTime(draft, 1, -1).postures[1]!.time).toBe(0);
    expect(whyNotAt(draft, 1, 3)).toContain("3 s already");
    expect(whyNotAt(draft, 1, 1)).toBe("");
    expect(whyNotAt(draft, 1, -1)).toContain("0 s or more");
  });

  it("duplicate between two, or after the last", () => {
    const [made, at] = duplicated(draft, 1);
    expect([made.postures[2]!.time, at]).toEqual([2, 2]);
    expect(duplicated(draft, 2)[0].postures.map((p) => p.time)).toEqual([0, 1, 3, 3.5]);
  });

  it("exchange neighbors and keep the times", () => {
    const made = exchanged(draft, 1, 1);
    expect(made.postures.map((p) => [p.time, p.joints["a"]])).toEqual([
      [0, 0],
      [1, 3],
      [3, 2],
    ]);
    expect(exchanged(draft, 2, 1)).toBe(draft);
    expect(without(draft, 0).postures).toHaveLength(2);
  });

  it("choose a planner with limits, and give both up again", () => {
    const planned = withLimit(withManner(draft, "acceleration"), ["a"], "speed", 2);
    expect([mannerOf(planned), limitOf(planned, ["a"], "speed")]).toEqual(["acceleration", 2]);
    expect(limitOf(planned, ["a", "b"], "speed")).toBeNaN();
    expect(limitOf(planned, ["a"], "jerk")).toBeNull();
    const plain = withManner(planned, "hold");
    expect([mannerOf(plain), plain.planner, plain.limits]).toEqual(["hold", "", {}]);
  });

  it("has few ticks, however long it is", () => {
    for (const end of [0.5, 1, 7, 33, 900, 5000]) {
      expect(ticks(end).length).toBeLessThan(15);
      expect(ticks(end)[0]).toBe(0);
    }
  });
});

describe("answers to edits", () => {
  const sent: { number: number; draft: MovementDraft }[] = [];
  answerHere((message) => void sent.push(message as never));

  /** What the session tells: a draft, and the number of the edit that it answers. */
  function stateOf(made: MovementDraft, number = 0): MovementState {
    return {
      type: "movement",
      draft: made,
      on: "",
      robots: [""],
      selected: 1,
      shown: false,
      problems: [],
      mirror: "",
      file: "",
      dirty: true,
      suggestion: "",
      files: [],
      buses: [],
      number,
    };
  }

  beforeEach(() => {
    sent.length = 0;
    forgetMovement();
    receiveMovement(stateOf(draft));
  });

  it("do not take a later edit back", () => {
    edit(withTime(draft, 1, 2), "time");
    edit(withTime(movement.state!.draft!, 1, 2.5), "time");
    receiveMovement(stateOf(sent[0]!.draft, sent[0]!.number));
    expect(movement.state!.draft!.postures[1]!.time).toBe(2.5);
    edit(withValue(movement.state!.draft!, 1, "b", 7), "value");
    expect(sent[2]!.draft.postures[1]).toMatchObject({ time: 2.5, joints: { a: 2, b: 7 } });
    receiveMovement(stateOf(sent[1]!.draft, sent[1]!.number));
    receiveMovement(stateOf(sent[2]!.draft, sent[2]!.number));
    expect(movement.state!.draft!.postures[1]!.joints).toEqual({ a: 2, b: 7 });
    receiveMovement(stateOf(draft, sent[2]!.number)); // undone
    expect(movement.state!.draft).toEqual(draft);
  });

  it("are not waited for where none comes", () => {
    edit(withTime(draft, 1, 2), "time");
    receiveMovement(stateOf(draft));
    expect(movement.state!.draft!.postures[1]!.time).toBe(2);
    store.refused = {
      type: "refused",
      what: "set_movement",
      text: "no",
      key: "",
      reason: "",
      error: null,
    };
    announce("refused");
    receiveMovement(stateOf(draft));
    expect(movement.state!.draft).toEqual(draft);
    edit(withTime(draft, 1, 2), "time");
    announce("link");
    receiveMovement(stateOf(draft, 3));
    expect(movement.state!.draft).toEqual(draft);
  });
});
