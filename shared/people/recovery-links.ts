import { hash } from 'node:crypto';
import { createOneTimeLinks, type OneTimeLinksOptions } from './one-time-links.ts';

/** Seconds for which a link is valid. */
export const LINK_LIFE = 900;

/** Seconds for which an invitation by mail is valid: people read their mail once a day. */
const MAILED_INVITATION = 86_400;

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
  /** The e-mail address that it was sent to: whoever has the link reads what goes there. */
  readonly address?: string;
}

/** One-time links with which somebody who cannot sign in sets a password. */
export interface RecoveryLinks {
  /** Returns the secret of a new link, which takes the place of the person's last one of that origin. */
  make(recovery: Recovery): Promise<string>;
  /**
   * Undefined: the secret is unknown, used, replaced or too old; or the person's password was changed, everything of theirs
   * ended, or the store was restored, since. Uses nothing up.
   */
  find(secret: string): Promise<Recovery | undefined>;
  /** Does the same, and uses the secret up: of several callers exactly one gets it. */
  redeem(secret: string): Promise<Recovery | undefined>;
}

export function createRecoveryLinks(options: OneTimeLinksOptions): RecoveryLinks {
  const { make, find, redeem } = createOneTimeLinks<Recovery>(options, {
    name: 'recovery',
    person: ({ person }) => person,
    owner: ({ person, byMail = false }) =>
      `${byMail ? 'by mail ' : ''}of:${hash('sha256', person, 'base64url')}`,
  });
  return {
    make: (recovery) => make(recovery, lifeOf(recovery)),
    find,
    redeem,
  };
}

/** Returns the seconds for which a link is valid. */
const lifeOf = ({ purpose, address }: Recovery) =>
  purpose === 'invitation' && address !== undefined ? MAILED_INVITATION : LINK_LIFE;
