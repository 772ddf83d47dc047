import type { Told } from '#shared/operations/operation.ts';
import { type keyOfUser, listKeysOfUsers } from '#shared/operations/people/user-key-list.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { addKeyOfUser } from '#shared/operations/people/user-key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { PUBLIC_KEY_OPTIONS, publicKeyFrom } from '../clients/new-public-key.ts';
import { removeKeyOfUser } from '#shared/operations/people/user-key-remove.ts';

type Shown = Told<typeof keyOfUser>;

export const userKeyList = listCommandOf(listKeysOfUsers, {
  nothing: () => 'There is no key yet.',
  lines: (items: readonly Shown[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['fingerprint', 'person', 'scheme', 'origin', 'name', 'made', 'last use', ''];

const row = ({ fingerprint, person, scheme, origin = '', ...key }: Shown) => [
  fingerprint,
  person,
  scheme,
  origin,
  key.name,
  minute(key.created_at),
  lastUse(key.used_at),
  key.disabled ? '(disabled)' : '',
];

export const userKeyAdd = commandOf(addKeyOfUser, {
  source: { members: ['public_key', 'key_name'], options: PUBLIC_KEY_OPTIONS, read: keyFrom },
  lines: ({ fingerprint, person, scheme, name }) => [
    `fingerprint: ${fingerprint}`,
    `person: ${person}`,
    `scheme: ${scheme}`,
    `name: ${name}`,
  ],
});

async function keyFrom(input: Input) {
  if (input.text('scheme') === 'hoba' && input.text('out') !== undefined) {
    throw new UsageError('--scheme hoba takes RSA keys alone: give --public-key FILE');
  }
  return publicKeyFrom(input);
}

export const userKeyRemove = commandOf(removeKeyOfUser, {
  lines: ({ fingerprint, person }) => [`Removed the key ${fingerprint} of ${person}.`],
});
