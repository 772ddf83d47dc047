import { counted } from '#shared/base/counted.ts';
import { loadConfig } from '#shared/config/load.ts';
import { hasSqlite } from '#shared/stores/sqlite/backup/restore.ts';
import { type Command, Failure } from '../arguments/command.ts';
import { applyDeclared, keptOut, leftOver, notesOfClients } from '../declared/apply-declared.ts';
import { readDeclared } from '../declared/read-declared.ts';
import type { Change } from '../declared/step.ts';
import { withPeople } from '../stores/with-people.ts';

export const apply: Command = {
  name: 'apply',
  store: 'opens',
  repeatable: true,
  summary: 'make the people, clients and keys that a file declares; a second run changes nothing',
  operands: ['FILE'],
  options: {
    'dry-run': { help: 'show what would be changed, and change nothing' },
    prune: {
      help: 'remove clients and keys that apply made and FILE no longer has; disable such people',
    },
    'reuse-name': { help: 'accept names of people who were removed' },
    'no-administrator': { help: 'accept that no person is an administrator afterwards' },
  },
  details: [
    'FILE is JSON with the members of directory export, without credentials of people; - reads standard input.',
    'The command checks the whole file first; a mistake changes nothing. 500 changes are one transaction, so that the',
    'servers do not wait for long. After an interruption, run the command again: it makes the missing entries.',
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
      tell: (made: number) => shell.note(`${counted(made, 'change')} made so far`),
    } as const;
    const [changes, left, disabled] = await withPeople(
      shell,
      async (house) => {
        const made = await applyDeclared(house, wanted, options);
        for (const { client, note } of await notesOfClients(house, wanted)) {
          shell.note(`Note: client ${client}: ${note}`);
        }
        return [
          made,
          options.prune ? [] : await leftOver(house, wanted),
          await keptOut(house, wanted),
        ] as const;
      },
      config,
    );
    return {
      json: { dry_run: dryRun, changes, left, disabled },
      lines: [
        ...(dryRun ? ['Nothing is changed by this run.'] : []),
        ...changes.flatMap((change) => changeLines(change, dryRun)),
        ...endLines(changes, left, dryRun),
        ...(disabled.length > 0
          ? [`Declared, but disabled: ${firstOf(disabled)}. "disabled": false lets them in.`]
          : []),
      ],
    };
  },
};

/**
 * Returns the last lines of the output: the number of changes, the people whom `--prune` disables, and what `--prune`
 * would remove.
 */
function endLines(
  changes: readonly Change[],
  left: readonly Change[],
  dryRun: boolean,
): readonly string[] {
  const count = counted(changes.length, 'change');
  const disabled = changes.filter(({ change }) => change === 'disabled').map(({ name }) => name);
  const would = left.map(thing);
  return [
    ...(disabled.length > 0
      ? [
          `${dryRun ? 'Would be disabled' : 'Disabled'}, not erased: ${firstOf(disabled)}. "disabled": false lets them in again.`,
        ]
      : []),
    changes.length === 0 ? 'Nothing to change.' : `${count}${dryRun ? ', none made' : ''}.`,
    ...(would.length > 0 ? [`${would.length} would go with --prune: ${firstOf(would)}.`] : []),
  ];
}

/** Returns the first names in one line. The output of `--json` has all names. */
const firstOf = (names: readonly string[]): string => {
  const left = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
};

/** The most names in one line. */
const NAMED = 10;

const SIGNS = { added: '+', changed: '~', removed: '-', disabled: '-' } as const;

/** Returns the kind and name of a changed entry, and the owner of a key. */
const thing = ({ kind, name, owner }: Change): string =>
  `${kind.replace('-', ' ')} ${name}${owner === undefined ? '' : ` of ${owner}`}`;

/** Returns the output about a change for people: a line for the entry, and a line for each changed member. */
function changeLines(one: Change, dryRun: boolean): readonly string[] {
  const { change, members } = one;
  const text = (value: unknown) => (value === undefined ? '(none)' : JSON.stringify(value));
  return [
    `${SIGNS[change]} ${thing(one)}: ${dryRun ? 'would be ' : ''}${change}`,
    ...Object.entries(members).map(([member, { old, new: now }]) =>
      change === 'added'
        ? `    ${member}: ${text(now)}`
        : `    ${member}: ${text(old)} -> ${text(now)}`,
    ),
  ];
}
