import type { Told } from '#shared/operations/operation.ts';
import { listPasskeys, type passkeyOfUser } from '#shared/operations/people/user-passkey-list.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { removePasskeyOfUser } from '#shared/operations/people/user-passkey-remove.ts';

type Shown = Told<typeof passkeyOfUser>;

export const userPasskeyList = listCommandOf(listPasskeys, {
  nothing: () => 'There is no passkey yet.',
  details: [
    'A passkey signs in only at its domain (setting people.passkeys.rpId). "refused" is the last time that the counter',
    'of a signature had not grown: an attacker may have a copy. Ask the person, and remove the passkey if in doubt.',
  ],
  lines: (items: readonly Shown[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['id', 'person', 'domain', 'name', 'made', 'last use', '', ''];

const row = ({ id, person, domain, name, created_at, used_at, refused_at, disabled }: Shown) => [
  id,
  person,
  domain,
  name,
  minute(created_at),
  lastUse(used_at),
  refused_at === undefined ? '' : `refused ${minute(refused_at)}`,
  disabled ? '(disabled)' : '',
];

export const userPasskeyRemove = commandOf(removePasskeyOfUser, {
  details: [
    '`user passkey list NAME` lists the ids. A passkey is the last way to sign in if the person has no other passkey, no',
    'password and no key. The device still offers a removed passkey, which no longer works, until the person deletes it.',
  ],
  lines: ({ id, person }) => [
    `Removed the passkey ${id} of ${person}. All that it opened has ended.`,
  ],
});
