// Loads a glTF file with three.js, moves its joints by what their extras say, and prints where
// each node stands: node three_poses.mjs <node_modules> <file.glb> <postures.json>
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, file, wanted] = process.argv.slice(2);
const three = join(modules, "three");
const load = (path) => import(pathToFileURL(join(three, path)).href);
globalThis.self = globalThis;
const THREE = await load("build/three.module.js");
const { GLTFLoader } = await load("examples/jsm/loaders/GLTFLoader.js");

const bytes = readFileSync(file);
const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new GLTFLoader().parseAsync(data, "");
const nodes = new Map();
gltf.scene.traverse((node) => nodes.set(node.userData.name ?? node.name, node));

const vector = (v) => new THREE.Vector3(...v);
const turn = (axis, angle) => new THREE.Quaternion().setFromAxisAngle(vector(axis), angle);

/** The motion of a joint in its own frame. */
function motion(joint, q) {
  const place = new THREE.Vector3();
  const rotation = new THREE.Quaternion();
  if (joint.type === "hinge") rotation.copy(turn(joint.axis, q[0]));
  else if (joint.type === "slider") place.copy(vector(joint.axis).multiplyScalar(q[0]));
  else if (joint.type === "universal")
    rotation.copy(turn(joint.axis, q[0])).multiply(turn(joint.axis2, q[1]));
  else if (joint.type === "cylindrical") {
    place.copy(vector(joint.axis).multiplyScalar(q[0]));
    rotation.copy(turn(joint.axis, q[1]));
  } else if (joint.type === "screw") {
    place.copy(vector(joint.axis).multiplyScalar((joint.pitch * q[0]) / (2 * Math.PI)));
    rotation.copy(turn(joint.axis, q[0]));
  } else if (joint.type !== "fixed") throw new Error(`no motion for ${joint.type}`);
  return new THREE.Matrix4().compose(place, rotation, new THREE.Vector3(1, 1, 1));
}

function placed({ translation = [0, 0, 0], rotation = [0, 0, 0, 1] }) {
  const unit = new THREE.Vector3(1, 1, 1);
  return new THREE.Matrix4().compose(vector(translation), new THREE.Quaternion(...rotation), unit);
}

const found = [];
for (const values of JSON.parse(readFileSync(wanted, "utf-8"))) {
  for (const node of nodes.values()) {
    const joint = node.userData.joint;
    if (!joint) continue;
    // the joint's frame stands at `at` in the frame of the element that carries it
    const carrier = placed(node.parent.userData.frame ?? {});
    const local = carrier.multiply(placed(joint.at)).multiply(motion(joint, values[joint.name]));
    local.decompose(node.position, node.quaternion, node.scale);
  }
  gltf.scene.updateMatrixWorld(true);
  const poses = {};
  for (const [name, node] of nodes) {
    const whole = node.matrixWorld.clone().multiply(placed(node.userData.frame ?? {}));
    poses[name] = whole.transpose().toArray();
  }
  found.push(poses);
}
const clips = gltf.animations.map((clip) => [clip.name, clip.tracks.length, clip.duration]);
console.log(JSON.stringify({ poses: found, clips }));
