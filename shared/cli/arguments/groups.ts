import type { Command } from './command.ts';

/** The groups of the help, by what an operator or developer wants to do: first words of commands, or whole names. */
const GROUPS: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Set up', ['start', 'config', 'apply', 'admin', 'mail', 'completion']],
  ['Applications, API keys and spaces', ['client', 'key', 'realm']],
  ['People', ['user']],
  [
    'Log in, get tokens, send requests',
    ['login', 'whoami', 'logout', 'token', 'request', 'gnap', 'push', 'private-token'],
  ],
  ['Find out what is wrong', ['explain', 'token explain', 'signature']],
  ['Watch the servers', ['server', 'revocation', 'cache', 'audit']],
  ['Keys of the servers', ['signing-keys', 'private-token keys', 'private-token rotate']],
  ['Back up and move', ['backup', 'restore', 'directory', 'redis']],
];

export interface Group<Named> {
  readonly title: string;
  readonly commands: readonly Named[];
}

/** Returns the commands in their groups. A whole name has precedence over a first word. */
export function grouped<Named extends Pick<Command, 'name'>>(
  commands: readonly Named[],
): readonly Group<Named>[] {
  const titleWith = (name: string) => GROUPS.find(([, names]) => names.includes(name))?.[0];
  const titleOf = ({ name }: Named) => titleWith(name) ?? titleWith(name.split(' ')[0] ?? '');
  return GROUPS.map(([title]) => ({
    title,
    commands: commands.filter((command) => titleOf(command) === title),
  }));
}
