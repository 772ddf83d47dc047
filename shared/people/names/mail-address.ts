import { domainToASCII } from 'node:url';

/** Most octets of an address, and of its part before `@` (RFC 5321 section 4.5.3.1). */
const MOST = { whole: 254, local: 64 };

/** Matches a Dot-string, without quoting (RFC 5321 section 4.1.2). */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Matches two labels or more; the last begins with a letter, so that an IPv4 address is no domain. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** Matches labels that may have letters beyond ASCII (RFC 5890 section 2.3.2.1). */
const LABELS = /^[\p{L}\p{M}\p{N}.-]+$/u;
const ASCII = /^[!-~]+$/;

/** Returns a domain with labels in ASCII, as mail servers use it (RFC 5891 section 5.5); empty if it is no domain. */
const asciiDomain = (domain: string): string =>
  ASCII.test(domain) || !LABELS.test(domain) ? domain : domainToASCII(domain);

/**
 * Returns an address to which mail can be sent, with its domain in ASCII; undefined if the text is none. All
 * interfaces read addresses with this function. The address appears in fields of messages and in commands to the mail
 * server, so no part of it may need quoting.
 */
export function mailAddress(typed: string): string | undefined {
  const [local = '', named = '', ...more] = typed.trim().split('@', 3);
  // A text longer than any domain is not converted.
  if (local.length > MOST.local || named.length > MOST.whole || more.length > 0) return undefined;
  const domain = asciiDomain(named);
  const address = `${local}@${domain}`;
  const fits = address.length <= MOST.whole && LOCAL.test(local) && DOMAIN.test(domain);
  return fits ? address : undefined;
}

/**
 * Returns the form in which addresses are compared, even if they are unverified: one mailbox has one form. In
 * practice mail servers ignore case. Only ASCII letters are mapped: for other letters, case mappings differ between
 * programs.
 */
export const addressKey = (address: string): string =>
  (mailAddress(address) ?? address).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
