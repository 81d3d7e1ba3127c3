import { beforeEach, expect, test } from "vitest";
import { alike, expectSetup, reach, receiveReaching } from "../src/app/reach";
import { store } from "../src/app/store";
import { announce } from "../src/app/topics";
import type { ReachSetup } from "../src/protocol/messages";
import { usual } from "../src/reach/setup";

const first = usual("arm/flange");
const damped: ReachSetup = { ...first, damping: "robotix" };
const both: ReachSetup = { ...damped, damping_value: 0.3 };

function receive(setup: ReachSetup | null): void {
  receiveReaching({ type: "reaching", setup, chain: [], joints: [], columns: [] });
}

beforeEach(() => {
  receive(null);
  receive(first);
});

test("the answer to an earlier change does not take a later one back", () => {
  expectSetup(damped);
  expectSetup(both);
  receive(damped);
  expect(reach.setup).toEqual(both);
  receive(both);
  receive(first); // by somebody else, later
  expect(reach.setup).toEqual(first);
});

test("what is refused, or lost with the link, is what the session has again", () => {
  expectSetup(damped);
  receive(first);
  expect(reach.setup).toEqual(damped);
  store.refused = {
    type: "refused",
    what: "set_reach",
    text: "no",
    key: "",
    reason: "",
    error: null,
  };
  announce("refused");
  expect(reach.setup).toEqual(first);
  expectSetup(both);
  announce("link");
  expect(reach.setup).toEqual(first);
});

test("setups are alike in whatever order their keys come", () => {
  const turned = Object.fromEntries(Object.entries(first).reverse());
  expect(alike(first, turned)).toBe(true);
  expect(alike(first, both)).toBe(false);
  expect(alike(first, null)).toBe(false);
});
