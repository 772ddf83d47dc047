import { domainToASCII } from 'node:url';

/** Octets of an address, and of what stands before its `@` (RFC 5321 section 4.5.3.1). */
const MOST = { whole: 254, local: 64 };

/** A Dot-string, without quoting (RFC 5321 section 4.1.2). */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Two labels or more; the last one begins with a letter, so that no address of a host (IPv4) is a domain. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Labels that may have other letters than those of ASCII (RFC 5890 section 2.3.2.1). */
const LABELS = /^[\p{L}\p{M}\p{N}.-]+$/u;
const ASCII = /^[!-~]+$/;

/** Returns a domain with labels of ASCII alone, as mail servers know it (RFC 5891 section 5.5); empty: it is none. */
const asciiDomain = (domain: string): string =>
  ASCII.test(domain) || !LABELS.test(domain) ? domain : domainToASCII(domain);

/**
 * Returns an address to which mail can be sent, with its domain in ASCII; undefined: it is none. All doors read addresses by
 * it. An address stands in fields of messages and in commands to the mail server, so nothing in it needs quoting.
 */
export function mailAddress(typed: string): string | undefined {
  const [local = '', named = '', ...more] = typed.trim().split('@', 3);
  // Nothing is converted that is longer than any domain.
  if (local.length > MOST.local || named.length > MOST.whole || more.length > 0) return undefined;
  const domain = asciiDomain(named);
  const address = `${local}@${domain}`;
  const fits = address.length <= MOST.whole && LOCAL.test(local) && DOMAIN.test(domain);
  return fits ? address : undefined;
}

/**
 * Returns the form in which addresses are compared, also those that were only typed: one mailbox has one form. Mail servers
 * tell no capitals from small letters in practice. Only ASCII letters are mapped: others change under mappings that not
 * everybody shares.
 */
export const addressKey = (address: string): string =>
  (mailAddress(address) ?? address).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
