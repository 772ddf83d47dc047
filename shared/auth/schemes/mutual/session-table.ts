import { hash } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import { SID_OCTETS } from './message.ts';
import type { Exchanged } from './verification.ts';

/** The data of a session (RFC 8120 section 11). Rejected and inactive sessions are not kept. */
export interface MutualSession extends Exchanged {
  readonly state: 'key exchanging' | 'authenticated';
  readonly user: string;
  /** The name of the session's J. A fake session has the name of a J that belongs to no person. */
  readonly verifier: string;
  /** Milliseconds since the epoch at which the sid was issued. */
  readonly made: number;
}

/**
 * The sessions of one server and realm, shared by all its processes. A session is valid for that server and realm
 * only (RFC 8120 section 6).
 */
export interface SessionTable {
  /** Stores a session; resolves to its sid. */
  add(session: MutualSession): Promise<string>;
  get(sid: string): Promise<MutualSession | undefined>;
  /** Removes a session and resolves to it: of several callers exactly one gets it. */
  take(sid: string): Promise<MutualSession | undefined>;
  put(sid: string, session: MutualSession): Promise<void>;
}

/** Seconds for which a session is kept after the key exchange, and again after its first proof. */
export const TIME = 300;

const NUMBERS = ['clientValue', 'serverValue', 'z'] as const;

/** A session as the store has it: JSON, with numbers in base64. */
interface Kept extends Pick<MutualSession, 'state' | 'user' | 'verifier' | 'made'> {
  readonly context: string;
  readonly numbers: readonly string[];
}

export function sessionTable(sessions: Sessions, random: Random, context: string): SessionTable {
  const idOf = (sid: string) => `mutual:${sid}`;

  async function put(sid: string, session: MutualSession): Promise<void> {
    const { state, user, verifier, made } = session;
    const numbers = NUMBERS.map((name) => session[name].toString('base64'));
    const kept: Kept = { context, state, user, verifier, made, numbers };
    await sessions.put(kept, TIME, idOf(sid));
  }

  function read(value: unknown): MutualSession | undefined {
    const kept = value as Kept | undefined;
    if (kept?.context !== context) return undefined;
    const { state, user, verifier, made, numbers } = kept;
    const [clientValue, serverValue, z] = numbers.map((text) => Buffer.from(text, 'base64')) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    return { state, user, verifier, made, clientValue, serverValue, z };
  }

  return {
    async add(session) {
      const sid = random(SID_OCTETS).toString('hex');
      await put(sid, session);
      return sid;
    },
    get: async (sid) => read(await sessions.get(idOf(sid))),
    take: async (sid) => read(await sessions.take(idOf(sid))),
    put,
  };
}

/** Returns a name for a J, from which the J cannot be computed. */
export const verifierName = (verifier: Buffer) => hash('sha256', verifier, 'base64url');
