import { domainToASCII } from 'node:url';

/** As RFC 5321 sections 4.1.2 and 4.5.3.1 have them. */
const MOST = { whole: 254, local: 64 };
const LOCAL = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const LABELS = /^[\p{L}\p{M}\p{N}.-]+$/u;
const ASCII = /^[!-~]+$/;

/**
 * Returns the form in which the migrations of both stores compare addresses: with the domain in ASCII (RFC 5891 section 5.5) and
 * in small letters; other text stays, but for ASCII capitals. As a migration it is never changed.
 */
export function mailKey(text: string): string {
  const [local = '', named = '', ...more] = text.trim().split('@', 3);
  const mayBe = local.length <= MOST.local && named.length <= MOST.whole && more.length === 0;
  const domain = !mayBe || ASCII.test(named) || !LABELS.test(named) ? named : domainToASCII(named);
  const address = `${local}@${domain}`;
  const is = mayBe && address.length <= MOST.whole && LOCAL.test(local) && DOMAIN.test(domain);
  return (is ? address : text).replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
