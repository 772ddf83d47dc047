import { hash } from 'node:crypto';
import { createOneTimeLinks, type OneTimeLinksOptions } from './one-time-links.ts';

/** Seconds for which a link is valid. */
export const LINK_LIFE = 900;

/** Seconds for which an invitation by mail is valid: people read their mail once a day. */
const MAILED_INVITATION = 86_400;

/** The path at the authorization server that precedes the secret of a link. */
export const LINK_PATH = '/recover/';

/** The right that a link gives to its holder. */
export interface Recovery {
  /** The id of the person. */
  readonly person: string;
  /** `invitation`: the person was added without a password. */
  readonly purpose: 'invitation' | 'recovery';
  /** True if the link also removes the second factor. */
  readonly secondFactor?: boolean;
  /**
   * True if the link was requested by mail, by the person or by anybody in their name. It does not replace an
   * operator's link.
   */
  readonly byMail?: boolean;
  /** The email address that the link was sent to: a holder of the link can read its mail. */
  readonly address?: string;
}

/** One-time links by which a person who cannot sign in sets a password. */
export interface RecoveryLinks {
  /**
   * Returns the secret of a new link, which replaces the person's last link of the same origin (mail or operator).
   */
  make(recovery: Recovery): Promise<string>;
  /**
   * Returns undefined if the secret is unknown, used, replaced or too old. It returns undefined, too, if since then
   * the person's password was changed, all their access was ended, or the store was restored. It does not use the
   * secret up.
   */
  find(secret: string): Promise<Recovery | undefined>;
  /** Does the same as `find`, and uses the secret up: of several callers exactly one gets the right. */
  redeem(secret: string): Promise<Recovery | undefined>;
  /** Ends the person's links. */
  end(person: string): Promise<void>;
}

export function createRecoveryLinks(options: OneTimeLinksOptions): RecoveryLinks {
  const { make, find, redeem, end } = createOneTimeLinks<Recovery>(options, {
    name: 'recovery',
    person: ({ person }) => person,
    owner: ownerOf,
  });
  return {
    make: (recovery) => make(recovery, lifeOf(recovery)),
    find,
    redeem,
    async end(person) {
      await end(ownerOf({ person }));
      await end(ownerOf({ person, byMail: true }));
    },
  };
}

const ownerOf = ({ person, byMail = false }: Pick<Recovery, 'person' | 'byMail'>) =>
  `${byMail ? 'by mail ' : ''}of:${hash('sha256', person, 'base64url')}`;

/** Returns the seconds for which a link is valid. */
const lifeOf = ({ purpose, address }: Recovery) =>
  purpose === 'invitation' && address !== undefined ? MAILED_INVITATION : LINK_LIFE;
