import { isIP } from 'node:net';
import type { Config } from './schema.ts';

type Named = Pick<Config, 'issuer' | 'people'>;

/**
 * Returns the RP ID of passkeys (WebAuthn section 4): the host of the issuer, unless `people.passkeys.rpId` names a
 * parent domain. Undefined: browsers make no passkeys for the issuer, since it is neither https nor localhost, or is an
 * IP address.
 */
export function relyingPartyId({ issuer, people: { passkeys } }: Named): string | undefined {
  const { protocol, hostname } = new URL(issuer);
  const isSecure = protocol === 'https:' || isLocalhost(hostname);
  if (!isSecure || isAddress(hostname)) return undefined;
  return passkeys.rpId ?? hostname;
}

/** Says why a name cannot be the RP ID of an issuer; undefined: it can. */
export function wrongRelyingParty({ issuer, people: { passkeys } }: Named): string | undefined {
  const { rpId } = passkeys;
  const { hostname } = new URL(issuer);
  if (rpId === undefined || rpId === hostname) return undefined;
  if (isAddress(hostname))
    return 'must not be set: the issuer has an IP address, for which browsers make no passkeys';
  if (!hostname.endsWith(`.${rpId}`)) {
    return `must be the host of the issuer (${hostname}) or a parent domain of it`;
  }
  // The public suffix list has all domains of one label but localhost.
  return rpId.includes('.') || rpId === 'localhost'
    ? undefined
    : 'must be a domain of your own: browsers refuse one that many share';
}

const isLocalhost = (hostname: string) =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

const isAddress = (hostname: string) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
