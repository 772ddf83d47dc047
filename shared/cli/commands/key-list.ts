import { type ListedKey, listKeys } from '#shared/operations/keys/key-list.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

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
