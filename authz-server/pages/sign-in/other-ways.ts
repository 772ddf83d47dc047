import { hash } from 'node:crypto';
import { admittedBy } from '#shared/config/production.ts';
import { hasOtherWayIn } from '#shared/people/other-ways-in.ts';
import { removePasskey } from '#shared/people/remove-passkey.ts';
import type { PagesServer } from '../../base/server.ts';
import type { OtherWay } from '../views/second-factor-fields.ts';

/** A passkey, or a key for HOBA or Concealed. It signs in without a one-time code, even if an attacker made it. */
export interface KeptWay extends OtherWay {
  readonly kind: 'passkey' | 'key';
  readonly id: string;
}

const itemOf = (kind: string, id: string) => hash('sha256', `${kind} ${id}`, 'base64url');

/** Lists the passkeys and keys that sign a person in without a one-time code. */
export async function otherWays(
  { stores }: Pick<PagesServer, 'stores'>,
  accountId: string,
): Promise<readonly KeptWay[]> {
  const [passkeys, keys] = await Promise.all([
    stores.passkeys.of(accountId),
    stores.publicKeys.of({ kind: 'person', id: accountId }),
  ]);
  const way = (
    kind: KeptWay['kind'],
    { id, name, created_at: since }: (typeof passkeys)[number] | (typeof keys)[number],
  ) => ({
    kind,
    id,
    name,
    since,
    item: itemOf(kind, id),
  });
  return [
    ...passkeys.map((passkey) => way('passkey', passkey)),
    ...keys.map((key) => way('key', key)),
  ];
}

/** Returns a mark of a list of ways. A form that was made for another list is refused. */
export const markOf = (ways: readonly OtherWay[]): string =>
  hash(
    'sha256',
    ways
      .map(({ item }) => item)
      .toSorted()
      .join(' '),
    'base64url',
  );

/**
 * Removes ways to sign in, with the sessions and grants that they opened. The last way stays. Returns the removed ways.
 */
export async function removeWays(
  server: PagesServer,
  accountId: string,
  ways: readonly KeptWay[],
): Promise<readonly KeptWay[]> {
  const { stores, recorder } = server;
  const removed: KeptWay[] = [];
  // Keys are removed first, so that a removed key does not count as another way to sign in.
  for (const way of ways.toSorted((a, b) => a.kind.localeCompare(b.kind))) {
    if (way.kind === 'key') {
      const event = { kind: 'public-key.removed', key: way.id, person: accountId } as const;
      if (await recorder.changing('publicKeys', event).remove(way.id)) removed.push(way);
      continue;
    }
    const least = (await hasOtherWayIn(stores, admittedBy(server.config), accountId)) ? 0 : 1;
    const outcome = await removePasskey(server, { accountId, id: way.id, least });
    if (outcome === 'removed') removed.push(way);
  }
  return removed;
}
