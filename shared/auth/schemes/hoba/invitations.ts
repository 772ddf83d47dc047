import { hash } from 'node:crypto';
import { randomId, type Random } from '#shared/base/random.ts';
import type { Acr } from '#shared/jose/acr.ts';
import { findSignIn, type SignInStores } from '#shared/people/access/sign-ins.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';

/** The path of the page that makes a key (RFC 7486 section 6.2.3), at every origin that has HOBA. */
export const KEY_PAGE = '/.well-known/hoba/key';

/** Seconds for which a link is valid. */
const LIFE = 600;

/** A person who may add a key. */
export interface Invited {
  /** The id of the person. */
  readonly person: string;
  /** How the person had signed in when they asked for the link. */
  readonly acr: Acr;
  /** The sign-in in which the person asked for the link; the end of that sign-in invalidates the link. */
  readonly signIn: string;
}

/** The record behind the secret of a link. */
interface Invitation extends Invited {
  readonly origin: string;
  /** The person's generation; raising it invalidates the person's links, too. */
  readonly generation: number;
}

/** One-time links by which a person adds a key; without them anybody could add a key to any account. */
export interface Invitations {
  /**
   * Returns a link with which its holder can add a key for the person. The secret is in the link's fragment, so that
   * no server and no log receives it.
   */
  invite(invited: Invited, origin: string): Promise<string>;
  /**
   * Returns the person whom the link invites; undefined if its secret is unknown, used, too old or for another
   * origin. `find` does not use the secret up.
   */
  find(secret: string, origin: string): Promise<Invited | undefined>;
  /** Does the same as `find`, and uses the secret up: of several callers exactly one gets the person. */
  redeem(secret: string, origin: string): Promise<Invited | undefined>;
}

export interface InvitationsOptions {
  readonly stores: SignInStores & {
    readonly sessions: Pick<Sessions, 'put' | 'get' | 'take'>;
  };
  readonly random: Random;
}

export function createInvitations({ stores, random }: InvitationsOptions): Invitations {
  const { sessions, revocations } = stores;
  /** Returns the id under which a secret is stored: a hash, so that the store has no secrets. */
  const idOf = (secret: string) => `hoba:${hash('sha256', secret, 'base64url')}`;

  async function invitedBy(state: unknown, origin: string): Promise<Invited | undefined> {
    const invitation = state as Invitation | undefined;
    if (invitation?.origin !== origin) return undefined;
    const { person, signIn } = invitation;
    if ((await findSignIn({ stores }, signIn)) === undefined) return undefined;
    const generation = await revocations.generation('person', person);
    return invitation.generation === generation ? invitation : undefined;
  }

  return {
    async invite(invited, origin) {
      const secret = randomId(random);
      const generation = await revocations.generation('person', invited.person);
      const invitation: Invitation = { ...invited, origin, generation };
      await sessions.put(invitation, LIFE, idOf(secret));
      return `${origin}${KEY_PAGE}#${secret}`;
    },

    find: async (secret, origin) => invitedBy(await sessions.get(idOf(secret)), origin),
    redeem: async (secret, origin) => invitedBy(await sessions.take(idOf(secret)), origin),
  };
}
