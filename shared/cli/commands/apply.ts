import { loadConfig } from '#shared/config/load.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/has-sqlite.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { applyDeclared } from '../declared/apply-declared.ts';
import { readDeclared } from '../declared/read-declared.ts';
import type { Change } from '../declared/step.ts';
import { withPeople } from '../stores/with-people.ts';

export const apply: Command = {
  name: 'apply',
  store: 'opens',
  summary: 'make people, clients and keys as a file declares them; a second run changes nothing',
  operands: ['FILE'],
  options: {
    'dry-run': { help: 'show what would be changed, and change nothing' },
    prune: {
      help: 'remove clients and keys that apply made and FILE no longer has, and disable such people',
    },
    'reuse-name': { help: 'accept names of people who were removed' },
    'no-administrator': { help: 'accept that nobody is an administrator afterwards' },
  },
  details: [
    'FILE is JSON with the members of directory export, without what lets people in.',
    'The whole file is checked first; a mistake changes nothing. On SQLite five hundred changes are one transaction, so that',
    'servers do not wait for long; on Redis each is one. After an interruption the command makes the rest.',
  ],
  run: async ({ operands: [file = ''], flag }, shell) => {
    const config = await loadConfig(shell.env);
    const wanted = await readDeclared(file, config, shell);
    const dryRun = flag('dry-run');
    if (dryRun && config.store.kind === 'sqlite' && !hasSqlite(config.data)) {
      throw new Failure(
        `there is no store at ${config.data}, and --dry-run makes none: all of FILE would be added`,
      );
    }
    const options = {
      dryRun,
      prune: flag('prune'),
      former: flag('reuse-name') ? 'reused' : 'refused',
      noAdministrator: flag('no-administrator'),
    } as const;
    const changes = await withPeople(
      shell,
      (house) => applyDeclared(house, wanted, options),
      config,
    );
    const { length } = changes;
    const count = `${length} ${length === 1 ? 'change' : 'changes'}`;
    const end = length === 0 ? 'Nothing to change.' : `${count}${dryRun ? ', none made' : ''}.`;
    return { json: { dry_run: dryRun, changes }, lines: [...changes.flatMap(changeLines), end] };
  },
};

const SIGNS = { added: '+', changed: '~', removed: '-', disabled: '-' } as const;

/** For people to read: a line for the thing, and one for each member. */
function changeLines({ kind, name, change, members }: Change): readonly string[] {
  const text = (value: unknown) => (value === undefined ? '(none)' : JSON.stringify(value));
  return [
    `${SIGNS[change]} ${kind.replace('-', ' ')} ${name}: ${change}`,
    ...Object.entries(members).map(([member, { old, new: now }]) =>
      change === 'added'
        ? `    ${member}: ${text(now)}`
        : `    ${member}: ${text(old)} -> ${text(now)}`,
    ),
  ];
}
