import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';

/** The path of the page that makes a key (RFC 7486 section 6.2.3), at every origin that has HOBA. */
export const KEY_PAGE = '/.well-known/hoba/key';

/** Seconds for which a link is valid. */
const LIFE = 600;

/** The record behind the secret of a link. */
interface Invitation {
  readonly person: string;
  readonly origin: string;
  /** The person's generation, so that raising it ends their links, too. */
  readonly generation: number;
}

/** One-time links by which a person adds a key; without them anybody could add a key to any account. */
export interface Invitations {
  /**
   * Returns a link with which its holder can add a key for the person. Its fragment has the secret, so that no server
   * and no log sees it.
   */
  invite(person: string, origin: string): Promise<string>;
  /**
   * Returns the id of the person; undefined if the secret is unknown, used, too old or for another origin. It does not
   * use the secret up.
   */
  find(secret: string, origin: string): Promise<string | undefined>;
  /** Does the same, and uses the secret up: of several callers exactly one gets the id. */
  redeem(secret: string, origin: string): Promise<string | undefined>;
}

export interface InvitationsOptions {
  readonly stores: {
    readonly sessions: Pick<Sessions, 'put' | 'get' | 'take'>;
    readonly revocations: Pick<Revocations, 'generation'>;
  };
  readonly random: Random;
}

export function createInvitations({ stores, random }: InvitationsOptions): Invitations {
  const { sessions, revocations } = stores;
  /** Returns the id under which a secret is stored: a hash, so that the store has no secrets. */
  const idOf = (secret: string) => `hoba:${hash('sha256', secret, 'base64url')}`;

  async function personOf(state: unknown, origin: string): Promise<string | undefined> {
    const invitation = state as Invitation | undefined;
    if (invitation?.origin !== origin) return undefined;
    const generation = await revocations.generation('person', invitation.person);
    return invitation.generation === generation ? invitation.person : undefined;
  }

  return {
    async invite(person, origin) {
      const secret = randomId(random);
      const generation = await revocations.generation('person', person);
      const invitation: Invitation = { person, origin, generation };
      await sessions.put(invitation, LIFE, idOf(secret));
      return `${origin}${KEY_PAGE}#${secret}`;
    },

    find: async (secret, origin) => personOf(await sessions.get(idOf(secret)), origin),
    redeem: async (secret, origin) => personOf(await sessions.take(idOf(secret)), origin),
  };
}
