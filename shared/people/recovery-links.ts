import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';

/** Seconds for which a link is valid. */
export const LINK_LIFE = 900;

/** The path below which the secret of a link stands, at the authorization server. */
export const LINK_PATH = '/recover/';

/** The right that a link gives to its holder. */
export interface Recovery {
  /** The id of the person. */
  readonly person: string;
  /** `invitation`: the person is new here. */
  readonly purpose: 'invitation' | 'recovery';
  /** The second factor is removed as well. */
  readonly secondFactor?: boolean;
  /** The person, or anybody in their name, asked for it. It does not take the place of an operator's. */
  readonly byMail?: boolean;
}

/** The record behind the secret of a link. */
interface Kept extends Recovery {
  /** The person's generation, so that raising it ends their links, too. */
  readonly generation: number;
}

/** One-time links with which somebody who cannot sign in sets a password. */
export interface RecoveryLinks {
  /** Returns the secret of a new link, which takes the place of the person's last one of that origin. */
  make(recovery: Recovery): Promise<string>;
  /** Undefined: the secret is unknown, used, replaced or too old, or everything of the person ended since. Uses nothing up. */
  find(secret: string): Promise<Recovery | undefined>;
  /** Does the same, and uses the secret up: of several callers exactly one gets it. */
  redeem(secret: string): Promise<Recovery | undefined>;
}

export interface RecoveryLinksOptions {
  readonly stores: {
    readonly sessions: Pick<Sessions, 'put' | 'get' | 'take'>;
    readonly revocations: Pick<Revocations, 'generation'>;
  };
  readonly random: Random;
}

export function createRecoveryLinks({ stores, random }: RecoveryLinksOptions): RecoveryLinks {
  const { sessions, revocations } = stores;
  /** The id of the record of a secret: a hash, so that the store has no secrets. */
  const idOf = (secret: string) => `recovery:${hash('sha256', secret, 'base64url')}`;
  /** The id of the record that names a person's last link: that of an operator, or that by mail. */
  const lastOf = ({ person, byMail = false }: Recovery) =>
    `recovery ${byMail ? 'by mail ' : ''}of:${hash('sha256', person, 'base64url')}`;

  async function valid(id: string, value: unknown): Promise<Recovery | undefined> {
    if (value === undefined) return undefined;
    const { generation, ...recovery } = value as Kept;
    const [last, now] = await Promise.all([
      sessions.get(lastOf(recovery)),
      revocations.generation('person', recovery.person),
    ]);
    return last === id && generation === now ? recovery : undefined;
  }

  return {
    async make(recovery) {
      const secret = randomId(random);
      const generation = await revocations.generation('person', recovery.person);
      const kept: Kept = { ...recovery, generation };
      await sessions.put(kept, LINK_LIFE, idOf(secret));
      await sessions.put(idOf(secret), LINK_LIFE, lastOf(recovery));
      return secret;
    },

    find: async (secret) => valid(idOf(secret), await sessions.get(idOf(secret))),
    redeem: async (secret) => valid(idOf(secret), await sessions.take(idOf(secret))),
  };
}
