import { isIPv4 } from 'node:net';
import { METHODS } from '#shared/http/methods.ts';
import { isScopeToken } from '#shared/jose/scope.ts';

import { checkAuthentication } from './check-authentication.ts';

type Members = Readonly<Record<string, unknown>>;
/** Returns the mistake in a value with the remedy, or undefined. */
type Check = (value: unknown, all: Members) => string | undefined;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const optional =
  (check: Check): Check =>
  (value, all) =>
    value === undefined ? undefined : check(value, all);
const says =
  (isRight: (value: unknown) => boolean, message: string): Check =>
  (value) =>
    value === undefined ? `is missing: it ${message}` : isRight(value) ? undefined : message;

/** True if the URL leads to this machine, so that no third party can read the traffic. */
function isLoopback({ hostname }: URL): boolean {
  return (
    /^(?:localhost|\[::1\])$/.test(hostname) || (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

/** True if the URL is written in its canonical form, and no third party can read the traffic to it. */
function isUrl(value: unknown, spelled: (url: URL) => readonly string[]): boolean {
  const url = isText(value) ? URL.parse(value) : null;
  if (url === null || !spelled(url).includes(String(value))) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

const ORIGIN_LIKE = 'without a path or a slash at the end; https, or http on this machine';

const CHECKS: Readonly<Record<string, Check>> = {
  issuer: says(
    (value) => isUrl(value, ({ origin }) => [origin]),
    `must be the issuer of the authorization server, such as 'https://auth.example', ${ORIGIN_LIKE}`,
  ),
  resource: says(
    (value) =>
      isUrl(value, ({ origin, pathname, href }) => (pathname === '/' ? [origin, href] : [href])) &&
      !/[?#@]/.test(String(value)),
    "must be the address of your API, such as 'https://api.example/', spelled as in the configuration of the authorization server, without query or fragment; https, or http on this machine",
  ),
  scopes: checkScopes,
  authentication: optional(checkAuthentication),
  name: optional(
    says(
      (value) => isText(value) && /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/.test(value),
      'must be 1 to 64 printable ASCII characters without " and \\',
    ),
  ),
  issuerUrl: optional(
    says(
      (value) => isText(value) && /^https?:/.test(value) && URL.parse(value)?.origin === value,
      "must be an http or https origin, such as 'http://authz:3000', without a path or a slash at the end",
    ),
  ),
  client: optional(
    says(
      (value) => isMembers(value) && isText(value['id']) && isText(value['secret']),
      'must be { id, secret }, as `countersign client add --grant client_credentials --scope revocations:follow` prints them',
    ),
  ),
  revocation: optional((value, { client }) => {
    if (value === 'none') return undefined;
    const stale = isMembers(value) && value['stale'] === 'allow' && Number(value['for']) > 0;
    if (value !== 'follow' && !stale) {
      return "must be 'follow', 'none' or { stale: 'allow', for: SECONDS }";
    }
    return client === undefined ? "needs `client`: give one, or say 'none'" : undefined;
  }),
  dpop: optional((value) => {
    if (value === false) return undefined;
    if (!isMembers(value)) return 'must be false, or an object: {} takes tokens of both kinds';
    return mistakesIn(value, DPOP_CHECKS).join('; ') || undefined;
  }),
  log: optional(
    says(
      (value) =>
        isMembers(value) && ['info', 'warn', 'error'].every((name) => isMethod(value, name)),
      'must have the methods info, warn and error, as `console` has',
    ),
  ),
};

const isSwitch = optional(says((value) => typeof value === 'boolean', 'must be true or false'));

const DPOP_CHECKS: Readonly<Record<string, Check>> = {
  required: isSwitch,
  nonce: isSwitch,
  secret: (value, { nonce, replay }) => {
    if (isText(value) && value.length >= 32) return undefined;
    const advice = 'must have 32 characters or more (make one with: openssl rand -base64 32)';
    if (value !== undefined) return advice;
    return nonce && replay
      ? `is missing: processes that share what \`replay\` remembers have to take each other's nonces; it ${advice}`
      : undefined;
  },
  replay: optional(
    says(
      (value) => isMembers(value) && isMethod(value, 'set'),
      'must be a client of node-redis or ioredis',
    ),
  ),
};

const isMethod = (members: Members, name: string) => typeof members[name] === 'function';

/** A function of scopes must accept every method: the metadata lists the scopes for all of them. */
export function checkScopes(value: unknown): string | undefined {
  if (typeof value !== 'function') return checkListed(value);
  for (const method of METHODS.keys()) {
    try {
      const mistake = checkListed(value(method));
      if (mistake !== undefined) return `what it returns for ${method} ${mistake}`;
    } catch (error) {
      return `must return a list for ${method} too, and threw ${String(error)}`;
    }
  }
  return undefined;
}

export function checkListed(value: unknown): string | undefined {
  if (!Array.isArray(value)) {
    return "must be a list, such as ['notes:read'], or a function of the method that returns one; [] takes any token for the resource";
  }
  const odd: unknown = value.find((scope) => !isText(scope) || !isScopeToken(scope));
  return odd === undefined
    ? undefined
    : `has ${JSON.stringify(odd)}, which is no scope (RFC 6749 section 3.3): one in each member`;
}

function mistakesIn(members: Members, checks: Readonly<Record<string, Check>>): string[] {
  const unknown = Object.keys(members)
    .filter((name) => !Object.hasOwn(checks, name))
    .map((name) => `${name}: is no option; there are ${Object.keys(checks).join(', ')}`);
  const wrong = Object.entries(checks).flatMap(([name, check]) => {
    const message = check(members[name], members);
    return message === undefined ? [] : `${name}: ${message}`;
  });
  return [...unknown, ...wrong];
}

/** Throws a `TypeError` that names every mistake and its remedy. */
export function checkOptions(options: unknown): void {
  const mistakes = isMembers(options)
    ? mistakesIn(options, CHECKS)
    : ['it takes an object: { issuer, resource, scopes }'];
  if (mistakes.length === 0) return;
  throw new TypeError(['protect cannot begin:', ...mistakes].join('\n  '));
}
