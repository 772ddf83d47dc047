import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { createVapid } from '#shared/auth/schemes/vapid/vapid.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { createNews } from '../push/news.ts';
import type { PushParts } from '../push/parts.ts';
import { createPush, type PushService } from '../push/push.ts';
import { PERSON } from './person.ts';

/** The name of a grant of the playground's person that ends at this time, in seconds since the epoch. */
export const grantUntil = (end: number): string => String(end);

export interface PlaygroundPushParts
  extends
    Pick<SchemeParts, 'stores' | 'feed' | 'clock' | 'random'>,
    Pick<PushParts, 'standing' | 'ending'> {
  readonly config: Config;
}

/**
 * The push service of the playground. Its subscriptions are in the store, which limits those of the one person. The
 * grants of this person are not stored: each ends at the time in its name, and with it whatever an interrupted exchange
 * has left.
 */
export function playgroundPush({ config, ...parts }: PlaygroundPushParts): PushService {
  const { clock } = parts;
  const artefacts: Stores['artefacts'] = {
    ...parts.stores.artefacts,
    get: async (_kind, grantId) =>
      Number(grantId) > epochSeconds(clock)
        ? { grantId, accountId: PERSON.id, generation: 0 }
        : undefined,
  };
  const stores = { ...parts.stores, artefacts };
  return createPush({
    ...parts,
    stores,
    access: { stores, clock, longestLife: longestLife(config) },
    vapid: createVapid(parts),
    news: createNews(stores.push),
    secureOrigin: config.tls?.resource,
    idleTimeout: config.server.idleTimeout * 1000,
  });
}
