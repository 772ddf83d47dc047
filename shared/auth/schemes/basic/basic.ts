import { isUtf8 } from 'node:buffer';
import { andThen } from '#shared/base/awaitable.ts';
import type { Person } from '#shared/people/directory.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import type { Scheme, Verdict } from '../../scheme.ts';
import type { VerifiedPasswords } from '../../credentials/verified-passwords.ts';

export interface BasicOptions {
  readonly realm: string;
  readonly passwords: VerifiedPasswords;
  readonly attempts: Attempts;
}

/** A name and a password as a client sends them, in NFC (RFC 7617 section 2.1). */
export interface UserPass {
  readonly name: string;
  readonly password: string;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Reads the user-pass of RFC 7617 section 2, in which the first colon separates name and password. Returns undefined
 * unless it is canonical base64 (RFC 4648 section 4) of UTF-8 without control characters and with a colon.
 */
export function parseUserPass(token68: string): UserPass | undefined {
  if (!BASE64.test(token68)) return undefined;
  const octets = Buffer.from(token68, 'base64');
  if (octets.toString('base64') !== token68 || !isUtf8(octets)) return undefined;
  const text = octets.toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1 || /\p{Cc}/u.test(text)) return undefined;
  return {
    name: text.slice(0, colon).normalize('NFC'),
    password: text.slice(colon + 1).normalize('NFC'),
  };
}

/**
 * Makes the Basic scheme (RFC 7617). It is neither offered nor accepted over connections that others could read
 * (section 4).
 */
export function basic({ realm, passwords, attempts }: BasicOptions): Scheme {
  const challenge: Challenge = { scheme: 'Basic', params: { realm, charset: 'UTF-8' } };

  return {
    name: 'Basic',
    ambient: true,

    challenge: ({ confidential }) => (confidential ? [challenge] : []),

    needs: ({ confidential }) =>
      confidential ? undefined : 'Basic is not taken in clear text: use https.',

    authenticate({ token68 }, request) {
      const { confidential, peer } = request;
      if (!confidential) return { kind: 'refused', ...refuse('basic-clear-text') };
      const sent = token68 === undefined ? undefined : parseUserPass(token68);
      if (sent === undefined) return { kind: 'refused', ...refuse('basic-form') };
      const account = usernameCaseMapped(sent.name) ?? sent.name;
      const judgePerson = (person: Person | undefined): Verdict => {
        if (person === undefined) {
          attempts.failed(account, peer.address);
          return { kind: 'refused', ...refuse('basic-password') };
        }
        attempts.succeeded(account, peer.address);
        return { kind: 'granted', principal: personPrincipal(realm, person) };
      };
      return andThen(attempts.begin(account, peer.address), (tooMany) => {
        const turn = () => attempts.turn(account, request);
        return tooMany ?? andThen(passwords.check(sent.name, sent.password, turn), judgePerson);
      });
    },
  };
}
