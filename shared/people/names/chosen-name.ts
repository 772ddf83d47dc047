import { usernameCaseMapped } from './precis.ts';
import { looksOf } from './search-keys.ts';

/** ASCII letters, digits and single signs between them: others have letters that look like these. */
const CHOSEN = /^(?=.{2,64}$)[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

/** Names that speak for the operator (RFC 2142), or that programs take for somebody in particular. */
const RESERVED = [
  'abuse',
  'account',
  'accounts',
  'admin',
  'administration',
  'administrator',
  'administrators',
  'admins',
  'alerts',
  'all',
  'anonymous',
  'anybody',
  'api',
  'auth',
  'authentication',
  'billing',
  'cert',
  'compliance',
  'contact',
  'countersign',
  'customerservice',
  'daemon',
  'default',
  'devnull',
  'dns',
  'everybody',
  'everyone',
  'feedback',
  'ftp',
  'guest',
  'help',
  'helpdesk',
  'hostmaster',
  'hr',
  'https',
  'imap',
  'info',
  'itsupport',
  'legal',
  'localhost',
  'login',
  'mail',
  'mailerdaemon',
  'marketing',
  'me',
  'moderator',
  'moderators',
  'news',
  'nobody',
  'noreply',
  'notifications',
  'notify',
  'null',
  'oauth',
  'official',
  'operator',
  'operators',
  'owner',
  'owners',
  'password',
  'payments',
  'phishing',
  'pop',
  'postmaster',
  'privacy',
  'recover',
  'recovery',
  'register',
  'root',
  'safety',
  'sales',
  'security',
  'self',
  'service',
  'signin',
  'signup',
  'smtp',
  'ssl',
  'staff',
  'sudo',
  'superuser',
  'support',
  'supportteam',
  'sysadmin',
  'system',
  'team',
  'trust',
  'undefined',
  'usenet',
  'user',
  'users',
  'uucp',
  'verification',
  'verify',
  'webmaster',
  'www',
];

/** Returns a name that somebody chose for themselves, as it is kept; undefined: operators alone may give such a name. */
export function chosenName(typed: string): string | undefined {
  const name = usernameCaseMapped(typed.trim()) ?? '';
  return CHOSEN.test(name) ? name : undefined;
}

const RESERVED_LOOKS: ReadonlySet<string> = new Set(RESERVED.map(looksOf));

/**
 * Whether a name looks like one that nobody may choose, or is put together of such ones, as `acme-support` is where the brand
 * is Acme. `more`: the name of the brand, and names that rights wait for (`grants.people` of spaces): somebody who took one
 * would have those rights.
 */
export function isReservedName(name: string, more: readonly string[]): boolean {
  const looks = more.map((one) => looksOf(usernameCaseMapped(one) ?? one));
  // A brand of signs alone looks like nothing, and would be a part of every name.
  const others = new Set(looks.filter((one) => one !== ''));
  const isReserved = (part: string) => RESERVED_LOOKS.has(part) || others.has(part);
  const whole = looksOf(name);
  return (
    isReserved(whole) ||
    name.split(/[._-]/).every((part) => isReserved(looksOf(part))) ||
    [...others].some(
      (other) =>
        (whole.startsWith(other) && isReserved(whole.slice(other.length))) ||
        (whole.endsWith(other) && isReserved(whole.slice(0, -other.length))),
    )
  );
}
