import { type Awaitable, recover } from '#shared/base/awaitable.ts';
import type { RevocationFeed, RevocationView } from './revocations.ts';

/** Returns the view for issuing credentials: the known view, or the latest view if the known one is too old. */
export const knownView = (
  feed: Pick<RevocationFeed, 'current' | 'latest'>,
): Awaitable<RevocationView> =>
  recover<RevocationView>(
    () => feed.current(),
    () => feed.latest(),
  );
