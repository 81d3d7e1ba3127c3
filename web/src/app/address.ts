/** A URL of the server, for pictures, meshes and uploads. A cookie holds the token. */
export function address(path: string): string {
  return new URL(path.replace(/^\//, ""), new URL("./", location.href)).href;
}
