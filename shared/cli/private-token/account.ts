import { TOKEN_TYPES, type TokenType } from '#shared/private-token/token-types.ts';
import type { Login } from '../oauth/login.ts';
import { columns } from '#shared/base/printable.ts';
import { personOf } from './issuer-login.ts';

/** Says what one party has learned from a command. */
export interface Account {
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

/** The question that an issuer was asked. */
export type AskedOfIssuer =
  | { readonly for: 'nothing' | 'keys' }
  | {
      readonly for: 'tokens';
      readonly type: TokenType;
      readonly count: number;
      readonly login: Login | undefined;
      /** Milliseconds since the epoch. */
      readonly at: number;
    };

/** Returns the account of the issuer: it learns who asked, but not for which site. */
export function issuerAccount(issuer: string, asked: AskedOfIssuer): Account {
  const title = `What the issuer ${issuer} has learned now:`;
  if (asked.for !== 'tokens') {
    const learned = asked.for === 'keys' ? 'that somebody looked at its keys' : 'nothing';
    return { json: { issuer, asked: asked.for }, lines: [title, `  ${learned}`] };
  }
  const { type, count, login, at } = asked;
  const person = login && personOf(login);
  const time = new Date(at).toISOString();
  const facts = {
    ...(login && { authorization_server: login.issuer, client: login.client_id }),
    ...(person !== undefined && { person }),
    count,
    type: TOKEN_TYPES[type].name,
    time,
  };
  return {
    json: { issuer, asked: asked.for, ...facts },
    lines: [
      title,
      ...columns([
        ['  who', login ? whoOf(login, person) : 'it did not ask'],
        ['  what', `${count} of type ${facts.type}`],
        ['  when', time],
        ['  not', 'which site they are for, nor how they look: it signed them blindly'],
      ]),
    ],
  };
}

const whoOf = ({ issuer, client_id }: Login, person = 'whoever approved') =>
  `${person}, signed in at ${issuer} with client ${client_id}`;

/** A token that was sent. */
export interface Sent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The site accepted the token. */
  readonly taken: boolean;
}

/** Returns the account of the site. `sent`: undefined if no token was sent. */
export function siteAccount(site: string, issuer: string, sent: Sent | undefined): Account {
  const title = `What the site ${site} has learned now:`;
  if (sent === undefined) {
    return { json: { site, redeemed: 0 }, lines: [title, '  that somebody asked what it takes'] };
  }
  const time = new Date(sent.at).toISOString();
  if (!sent.taken) {
    const what = '  that somebody has sent a token, which it did not take';
    return { json: { site, redeemed: 0, time }, lines: [title, what] };
  }
  return {
    json: { site, redeemed: 1, vouched_for_by: issuer, time },
    lines: [
      title,
      ...columns([
        ['  what', `that the issuer ${issuer} vouches for whoever sent the token`],
        ['  when', time],
        ['  not', 'who that is, nor which other tokens the same person has sent'],
      ]),
    ],
  };
}

/** Says what the issuer learns of a token that only it can verify (RFC 9578 section 5.4). */
export const ISSUER_VERIFIES =
  'Only the issuer can verify such a token: where the site asks it, it learns that one was used there, not whose.';

/** Says what tokens do not hide. */
export const BOTH_SEE = 'Both see the address of this machine and the time.';
