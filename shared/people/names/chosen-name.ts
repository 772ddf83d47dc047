import { usernameCaseMapped } from './precis.ts';
import { looksOf } from './search-keys.ts';

/**
 * Matches ASCII letters, digits and single signs between them. Other letters are excluded, since some look like
 * these.
 */
const CHOSEN = /^(?=.{2,64}$)[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

/** Names that appear to speak for the operator (RFC 2142), or that programs give a special meaning. */
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

/** Returns the stored form of a name that a person chose; undefined if only operators may give such a name. */
export function chosenName(typed: string): string | undefined {
  const name = usernameCaseMapped(typed.trim()) ?? '';
  return CHOSEN.test(name) ? name : undefined;
}

const RESERVED_LOOKS: ReadonlySet<string> = new Set(RESERVED.map(looksOf));

/**
 * True if a name looks like a reserved name, or consists of reserved names, such as `acme-support` for the brand
 * Acme. `more`: the brand's name, and names that the configuration gives rights (`grants.people` of spaces): a person
 * who took such a name would get the rights.
 */
export function isReservedName(name: string, more: readonly string[]): boolean {
  const looks = more.map((one) => looksOf(usernameCaseMapped(one) ?? one));
  // A brand of signs alone becomes an empty text, which would be a part of every name.
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
