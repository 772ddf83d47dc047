import { usernameCaseMapped } from './precis.ts';
import { looksSearchKey } from './search-keys.ts';

/** ASCII letters, digits and single signs between them: others have letters that look like these. */
const CHOSEN = /^(?=.{2,64}$)[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

/** Names that speak for the operator (RFC 2142), or that programs take for somebody in particular. */
const RESERVED = [
  'abuse',
  'account',
  'admin',
  'administrator',
  'anonymous',
  'billing',
  'everybody',
  'everyone',
  'help',
  'helpdesk',
  'hostmaster',
  'info',
  'mailerdaemon',
  'moderator',
  'nobody',
  'noreply',
  'official',
  'operator',
  'owner',
  'postmaster',
  'register',
  'root',
  'security',
  'staff',
  'superuser',
  'support',
  'sysadmin',
  'system',
  'webmaster',
];

/** Returns a name that somebody chose for themselves, as it is kept; undefined: operators alone may give such a name. */
export function chosenName(typed: string): string | undefined {
  const name = usernameCaseMapped(typed.trim()) ?? '';
  return CHOSEN.test(name) ? name : undefined;
}

/**
 * Whether a name looks like one that nobody may choose. `granted`: names that rights wait for (`grants.people` of spaces):
 * somebody who took one would have those rights.
 */
export function isReservedName(name: string, granted: readonly string[]): boolean {
  const looks = looksSearchKey(name);
  return [...RESERVED, ...granted].some(
    (one) => looksSearchKey(usernameCaseMapped(one) ?? one) === looks,
  );
}
