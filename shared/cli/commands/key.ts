import { type ListedKey, listKeys } from '#shared/operations/keys/key-list.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { addKey } from '#shared/operations/keys/key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { keyLines } from '../clients/new-key.ts';
import { PUBLIC_KEY_OPTIONS, publicKeyFrom } from '../clients/new-public-key.ts';
import { rotateApiKey } from '#shared/operations/keys/key-rotate.ts';
import { removeKey } from '#shared/operations/keys/key-remove.ts';

export const keyList = listCommandOf(listKeys, {
  nothing: () => 'There is no key yet.',
  lines: (items: readonly ListedKey[], widths, now) =>
    table(
      HEADINGS,
      items.map((key) => row(key, now)),
      widths,
    ),
});

const HEADINGS = ['id', 'application', 'realm', 'scopes', 'last use', 'end', ''];

const row = (
  { id, application, realm = '', scopes = [], scheme, name, expires_at, used_at, demo }: ListedKey,
  now: number,
) => [
  id,
  application,
  realm,
  scopes.join(' '),
  lastUse(used_at),
  expires_at === undefined ? '' : `${expires_at <= now ? 'ended' : 'ends'} ${minute(expires_at)}`,
  scheme === undefined ? (demo ? '(demo: refused in production)' : '') : `(${scheme}: ${name})`,
];

export const keyAdd = commandOf(addKey, {
  source: { members: ['public_key', 'key_name'], options: PUBLIC_KEY_OPTIONS, read: keyFrom },
  lines: (key) =>
    'key' in key
      ? keyLines(key)
      : Object.entries(key).map(([member, value]) => `${member}: ${value}`),
});

async function keyFrom(input: Input) {
  if (input.flag('concealed')) return publicKeyFrom(input);
  const given = Object.keys(PUBLIC_KEY_OPTIONS).find((option) => input.flag(option));
  if (given !== undefined) throw new UsageError(`--${given} belongs to --concealed`);
  return { given: {} };
}

export const keyRotate = commandOf(rotateApiKey, {
  details: ['The new key has the same application, realm and scopes.'],
  lines: (key, { id, overlap }) => [
    ...keyLines(key),
    `The key ${id} ends ${overlap} seconds from now at the latest.`,
  ],
});

export const keyRemove = commandOf(removeKey, { lines: ({ id }) => [`Removed the key ${id}.`] });
