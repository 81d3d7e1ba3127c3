/** All commands by name: for keys, menus and the command palette. */
export interface Command {
  id: string;
  title: string;
  /** Keys as shown, for instance `Ctrl+Z`. */
  key?: string;
  run: () => void;
}

const commands = new Map<string, Command>();

export function define(list: Command[]): void {
  for (const command of list) {
    if (commands.has(command.id)) throw new Error(`There are two commands ${command.id}.`);
    const taken = [...commands.values()].find((c) => c.key !== undefined && c.key === command.key);
    if (taken) throw new Error(`${command.key} is the key of ${taken.id} and ${command.id}.`);
    commands.set(command.id, command);
  }
}

export function run(id: string): void {
  const command = commands.get(id);
  if (!command) throw new Error(`There is no command ${id}.`);
  command.run();
}

export function allCommands(): Command[] {
  return [...commands.values()];
}
