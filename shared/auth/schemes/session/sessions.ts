import { createHash } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Artefacts } from '#shared/stores/oauth/artefacts.ts';

/** The record of a session. The end of its grant removes it, too (`removeByGrant`). */
export interface SessionRecord {
  readonly accountId: string;
  readonly grantId: string;
  /** URL of the space that the session is for. */
  readonly space: string;
  /** Claims of the access token with which the session began: revoking that token ends the session. */
  readonly claims: RevocableClaims;
  readonly acr?: string;
  /** NumericDate. */
  readonly auth_time?: number;
  /** Milliseconds since the epoch: `until` is the latest end of the session, `used` its last use, to the minute. */
  readonly until: number;
  readonly used: number;
}

export interface Sessions {
  /** Begins a session. Resolves to the secret that the browser keeps. */
  begin(session: Omit<SessionRecord, 'used'>, idle: number): Promise<string>;
  /** Finds the session of a secret. Resolves to undefined if there is none, or it has ended. */
  find(secret: string): Promise<SessionRecord | undefined>;
  /**
   * Stores that a session was used now, so that it ends `idle` seconds later. A session that has ended stays ended.
   */
  touch(secret: string, session: SessionRecord, idle: number): Promise<void>;
  remove(secret: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The kind under which the store has sessions. */
const KIND = 'BrowserSession';
/** Least milliseconds between two writes of a session's use. */
const MINUTE = 60_000;

/**
 * Returns the id under which a session is stored: the secret's hash, so that a reader of the store cannot use a
 * session.
 */
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
    // Only this file writes records of this kind, so their members need no second check.
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
