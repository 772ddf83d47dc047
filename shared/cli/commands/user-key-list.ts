import type { Told } from '#shared/operations/operation.ts';
import { type keyOfUser, listKeysOfUsers } from '#shared/operations/people/user-key-list.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

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
