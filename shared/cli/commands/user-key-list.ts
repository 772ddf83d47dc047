import { personNamed } from '#shared/people/people.ts';
import type { People, PersonRecord } from '#shared/stores/people/people.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Command, OutputSlice, Shell } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { openShellStores } from '../stores/with-stores.ts';

export const userKeyList: Command = {
  name: 'user key list',
  store: 'opens',
  summary: 'list the keys that sign people in without a password, of all or of one person',
  operands: ['[NAME]'],
  run: async ({ operands: [name] }, shell) => ({ slices: keys(shell, name) }),
};

async function* keys(shell: Shell, asked: string | undefined): AsyncGenerator<OutputSlice> {
  await using opened = await openShellStores(shell);
  const { people, publicKeys } = opened.stores;
  const widths: number[] = [];
  let none = true;
  const slices =
    asked === undefined
      ? publicKeys.list()
      : [await publicKeys.of(await ownerNamed(people, asked))];
  for await (const slice of slices) {
    const list: Listed[] = [];
    for (const key of slice) {
      if (key.owner.kind === 'person') list.push([key, await people.get(key.owner.id)]);
    }
    if (list.length === 0) continue;
    none = false;
    yield {
      json: list.map(shown),
      get lines() {
        return table(HEADINGS, list.map(row), widths);
      },
    };
  }
  if (none) yield { json: [], lines: ['There is no key yet.'] };
}

async function ownerNamed(people: People, name: string) {
  const { id } = await personNamed(people, name);
  return { kind: 'person', id } as const;
}

/** A key, and whose it is. */
type Listed = readonly [key: PublicKeyRecord, person: PersonRecord | undefined];

function shown([{ id, scheme, name, origin, created_at, used_at }, person]: Listed) {
  return { fingerprint: id, person: person?.name, scheme, name, origin, created_at, used_at };
}

const HEADINGS = ['fingerprint', 'person', 'scheme', 'origin', 'name', 'made', 'last use', ''];

const row = ([{ id, scheme, name, origin = '', created_at, used_at }, person]: Listed) => [
  id,
  person?.name ?? '',
  scheme,
  origin,
  name,
  minute(created_at),
  lastUse(used_at),
  person?.disabled ? '(disabled)' : '',
];
