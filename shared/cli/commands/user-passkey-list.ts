import { personNamed } from '#shared/people/people.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import type { Command, OutputSlice, Shell } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { openShellStores } from '../stores/with-stores.ts';

export const userPasskeyList: Command = {
  name: 'user passkey list',
  store: 'opens',
  summary: 'list the passkeys with which people sign in, of all or of one person',
  operands: ['[NAME]'],
  details: [
    'A passkey signs in only at its domain (setting people.passkeys.rpId). "refused" is the last time that the counter',
    'of a signature had not grown: somebody may have a copy of the passkey. Ask its person, and remove it if in doubt.',
  ],
  run: async ({ operands: [name] }, shell) => ({ slices: passkeys(shell, name) }),
};

async function* passkeys(shell: Shell, asked: string | undefined): AsyncGenerator<OutputSlice> {
  await using opened = await openShellStores(shell);
  const { people, passkeys: kept } = opened.stores;
  const widths: number[] = [];
  let none = true;
  const slices =
    asked === undefined ? kept.list() : [await kept.of((await personNamed(people, asked)).id)];
  for await (const slice of slices) {
    if (slice.length === 0) continue;
    none = false;
    const list: Listed[] = [];
    for (const passkey of slice) list.push([passkey, await people.get(passkey.accountId)]);
    yield {
      json: list.map(shown),
      get lines() {
        return table(HEADINGS, list.map(row), widths);
      },
    };
  }
  if (none) yield { json: [], lines: ['There is no passkey yet.'] };
}

/** A passkey, and whose it is. */
type Listed = readonly [passkey: PasskeyRecord, person: PersonRecord | undefined];

function shown([passkey, person]: Listed) {
  const { id, rpId, name, backedUp, created_at, used_at, refused_at } = passkey;
  const times = { created_at, used_at, refused_at };
  return { id, person: person?.name, domain: rpId, name, backed_up: backedUp, ...times };
}

const HEADINGS = ['id', 'person', 'domain', 'name', 'made', 'last use', '', ''];

const row = ([{ id, rpId, name, created_at, used_at, refused_at }, person]: Listed) => [
  id,
  person?.name ?? '',
  rpId,
  name,
  minute(created_at),
  lastUse(used_at),
  refused_at === undefined ? '' : `refused ${minute(refused_at)}`,
  person?.disabled ? '(disabled)' : '',
];
