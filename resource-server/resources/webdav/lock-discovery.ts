import type { Entry, Lock } from '#shared/stores/trees/trees.ts';
import type { Space } from '../../space/spaces.ts';
import { hrefOf } from '../resource/path.ts';
import { dav, davHref } from './xml-writer.ts';

/** The caller who asks about locks, the space, and the time (milliseconds since the epoch). */
export interface Asking {
  readonly space: Space;
  readonly principal: string;
  readonly now: number;
}

/** DAV:lockdiscovery of a resource, as LOCK answers it. */
export function lockDiscovery(...from: Parameters<typeof activeLocks>): string {
  return dav('lockdiscovery', activeLocks(...from));
}

/**
 * The content of DAV:lockdiscovery: the locks in force on a resource (RFC 4918 section 15.8). Only the principal
 * who made a lock sees its owner and its token.
 */
export function activeLocks(
  locks: readonly Lock[],
  resource: Pick<Entry, 'path' | 'kind'>,
  asking: Asking,
): string {
  return locks.map((lock) => activeLock(lock, resource, asking)).join('');
}

function activeLock(
  { root, deep, exclusive, owner, token, principal, expires }: Lock,
  { path, kind }: Pick<Entry, 'path' | 'kind'>,
  { space, principal: asker, now }: Asking,
): string {
  const own = principal === asker;
  return dav(
    'activelock',
    dav('locktype', dav('write')),
    dav('lockscope', dav(exclusive ? 'exclusive' : 'shared')),
    dav('depth', deep ? 'infinity' : '0'),
    own ? owner : '',
    dav('timeout', `Second-${Math.max(Math.ceil((expires - now) / 1000), 0)}`),
    own ? dav('locktoken', davHref(token)) : '',
    // A lock on a collection above has the URL of that collection as its root.
    dav(
      'lockroot',
      davHref(hrefOf(space, { path: root, kind: root === path ? kind : 'collection' })),
    ),
  );
}

/** The content of DAV:supportedlock (RFC 4918 section 15.10). */
export const LOCK_ENTRIES = ['exclusive', 'shared']
  .map((scope) => dav('lockentry', dav('lockscope', dav(scope)), dav('locktype', dav('write'))))
  .join('');
