import { createHash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Artefacts } from '#shared/stores/oauth/artefacts.ts';

/** What stands behind a cookie, beside the grant that it ends with (`removeByGrant`). */
export interface SessionRecord {
  readonly accountId: string;
  readonly grantId: string;
  /** URL of the space that it is for. */
  readonly space: string;
  /** Of the access token that it began with: what revokes that ends this. */
  readonly claims: RevocableClaims;
  readonly acr?: string;
  /** NumericDate. */
  readonly auth_time?: number;
  /** Milliseconds since the epoch: its end, however much it is used, and when it was used last, to the minute. */
  readonly until: number;
  readonly used: number;
}

export interface Sessions {
  /** Resolves to the secret that the browser keeps. */
  begin(session: Omit<SessionRecord, 'used'>, idle: number): Promise<string>;
  /** Undefined: there is none of this secret, or it has ended. */
  find(secret: string): Promise<SessionRecord | undefined>;
  /** It was used now: it ends `idle` seconds later. What has ended meanwhile stays so. */
  touch(secret: string, session: SessionRecord, idle: number): Promise<void>;
  remove(secret: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Of an artefact. */
const KIND = 'BrowserSession';
/** Milliseconds from one note of its use to the next. */
const MINUTE = 60_000;

/** The store knows the hash of the secret alone: who reads it is nobody. */
const idOf = (secret: string) => createHash('sha256').update(secret).digest('base64url');

export function createSessions({
  artefacts,
  clock,
  random,
}: {
  readonly artefacts: Pick<Artefacts, 'put' | 'get' | 'replace' | 'remove'>;
  readonly clock: Clock;
  readonly random: Random;
}): Sessions {
  const artefactOf = (secret: string, session: SessionRecord, idle: number) => ({
    kind: KIND,
    id: idOf(secret),
    payload: { ...session },
    seconds: Math.max(1, Math.min(idle, (session.until - clock.now()) / 1000)),
  });

  return {
    async begin(session, idle) {
      const secret = random(32).toString('base64url');
      await artefacts.put(artefactOf(secret, { ...session, used: clock.now() }, idle));
      return secret;
    },
    // Written here alone, so its members need no second check.
    find: async (secret) => (await artefacts.get(KIND, idOf(secret))) as SessionRecord | undefined,
    async touch(secret, session, idle) {
      const now = clock.now();
      if (Math.abs(now - session.used) < MINUTE) return;
      await artefacts.replace(artefactOf(secret, { ...session, used: now }, idle), { ...session });
    },
    remove: (secret) => artefacts.remove(KIND, idOf(secret)),
    now: () => clock.now(),
  };
}
