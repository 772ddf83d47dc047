import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Revocations } from '#shared/stores/revocations.ts';
import type { Sessions } from '#shared/stores/sessions.ts';

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
  /** The id of the person; undefined: unknown, used, too old or of another origin. Of any number one gets it. */
  redeem(secret: string, origin: string): Promise<string | undefined>;
}

export interface InvitationsOptions {
  readonly stores: {
    readonly sessions: Pick<Sessions, 'put' | 'take'>;
    readonly revocations: Pick<Revocations, 'generation'>;
  };
  readonly random: Random;
}

export function createInvitations({ stores, random }: InvitationsOptions): Invitations {
  const { sessions, revocations } = stores;
  /** Whoever reads the store finds no secret. */
  const idOf = (secret: string) => `hoba:${hash('sha256', secret, 'base64url')}`;

  return {
    async invite(person, origin) {
      const secret = randomId(random);
      const generation = await revocations.generation('person', person);
      const invitation: Invitation = { person, origin, generation };
      await sessions.put(invitation, LIFE, idOf(secret));
      return `${origin}${KEY_PAGE}#${secret}`;
    },

    async redeem(secret, origin) {
      const taken = (await sessions.take(idOf(secret))) as Invitation | undefined;
      if (taken?.origin !== origin) return undefined;
      const generation = await revocations.generation('person', taken.person);
      return taken.generation === generation ? taken.person : undefined;
    },
  };
}
