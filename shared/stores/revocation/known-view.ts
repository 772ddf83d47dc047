import { type Awaitable, recover } from '#shared/base/awaitable.ts';
import type { RevocationFeed, RevocationView } from './revocations.ts';

/** The view for what is issued: as it is known here, and asked for where nothing was heard for too long. */
export const knownView = (
  feed: Pick<RevocationFeed, 'current' | 'latest'>,
): Awaitable<RevocationView> =>
  recover<RevocationView>(
    () => feed.current(),
    () => feed.latest(),
  );
