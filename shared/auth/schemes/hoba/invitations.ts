import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '#shared/stores/revocation/revocations.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';

/** Where the page is that makes a key (RFC 7486 section 6.2.3), at every origin that has HOBA. */
export const KEY_PAGE = '/.well-known/hoba/key';

/** Seconds. */
const LIFE = 600;

/** What the secret of a link stands for. */
interface Invitation {
  readonly person: string;
  readonly origin: string;
  /** Of the person: with everything else their links end. */
  readonly generation: number;
}

/** Links by which a person adds a key, each good once: without one a key could be added to anybody's account. */
export interface Invitations {
  /** The link, with the secret where no server and no log sees it; whoever has it adds a key for the person. */
  invite(person: string, origin: string): Promise<string>;
  /** The id of the person; undefined: unknown, used, too old or of another origin. Uses nothing up. */
  find(secret: string, origin: string): Promise<string | undefined>;
  /** The same, and uses it up: of any number one gets it. */
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
  /** Whoever reads the store finds no secret. */
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
