/** Octets of an address, and of what stands before its `@` (RFC 5321 section 4.5.3.1). */
const MOST = { whole: 254, local: 64 };

/** Atoms and dots, without quoting (RFC 5322 section 3.2.3). */
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** RFC 5321 section 4.1.2. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/**
 * Returns an address that somebody typed, if mail can be sent to it as it is. An operator may also write others; but what
 * a stranger typed stands in fields of messages and in commands to the mail server, so nothing here needs quoting.
 */
export function mailAddress(typed: string): string | undefined {
  const address = typed.trim();
  const [local = '', domain = '', ...more] = address.split('@', 3);
  const fits = address.length <= MOST.whole && local.length <= MOST.local && more.length === 0;
  return fits && LOCAL.test(local) && DOMAIN.test(domain) ? address : undefined;
}

/**
 * Returns the form in which addresses are compared. Mail servers tell no capitals from small letters in practice. Only
 * ASCII letters are mapped: others change under mappings that not everybody shares.
 */
export const addressKey = (address: string): string =>
  address.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
