import { STATUS_CODES } from 'node:http';
import { SCHEMES } from '#shared/auth/schemes/list.ts';
import type { Config } from '#shared/config/schema.ts';
import { everyTokenSpace } from '#shared/config/token-spaces.ts';
import { METHODS } from '#shared/http/methods.ts';
import { labelOf } from '#shared/refusals/table.ts';
import { LABELS } from '#shared/refusals/refusal.ts';
import type { LimitNamespace } from '#shared/stores/limits/limits.ts';

declare const OF: unique symbol;

/** The value of a label. Only a closed set creates values, so that a client cannot create a time series. */
export type Label<Name extends string> = string & { readonly [OF]: Name };

/**
 * Returns a function that makes a label's value: the text if the set has it, an empty text for undefined, otherwise
 * `other`.
 */
export function closedSet<Name extends string>(_name: Name, values: Iterable<string>) {
  const known = new Map([...values].map((value) => [value, value as Label<Name>]));
  const [none, other] = ['', 'other'].map((value) => value as Label<Name>);
  return (text: string | undefined): Label<Name> =>
    (text === undefined ? none : (known.get(text) ?? other)) as Label<Name>;
}

/** The name of sessions, which are no registered scheme. */
const SESSION = 'Session';

export const methodLabel = closedSet('method', METHODS.keys());
export const schemeLabel = closedSet('scheme', [...SCHEMES.map(({ name }) => name), SESSION]);
export const levelLabel = closedSet('level', ['info', 'warn', 'error']);
export const atLabel = closedSet('at', ['p50', 'p99', 'max']);
export const grantLabel = closedSet('grant', [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:ietf:params:oauth:grant-type:device_code',
  'gnap',
]);
export const formatLabel = closedSet('format', ['Bearer', 'DPoP', 'GNAP']);
export const howLabel = closedSet('how', ['password', 'passkey', 'second-factor', 'provider']);
export const resultLabel = closedSet('result', [
  'done',
  'goes-on',
  'refused',
  'told',
  'postponed',
  'given-up',
]);
export const algLabel = closedSet('alg', ['ES256', 'RS256', 'EdDSA']);
export const KEY_STATES = ['published', 'signing', 'retiring'] as const;
export const stateLabel = closedSet('state', KEY_STATES);
export const kindLabel = closedSet('kind', ['token', 'grant', 'key', 'person', 'client']);
export const eventLabel = closedSet('event', ['issued', 'verified', 'redeemed', 'replayed']);
/** The value for a limit's namespace. Namespaces are a closed set of types, which no client can extend. */
export const limitLabel = (namespace: LimitNamespace) => namespace as string as Label<'limit'>;
const reasonSet = closedSet('reason', LABELS);
const statusSet = closedSet('status', Object.keys(STATUS_CODES));
const classSet = closedSet('class', ['1xx', '2xx', '3xx', '4xx', '5xx']);

/**
 * The label of each status by its number: making the text for each request would cost more than counting the request.
 */
const STATUSES = Array.from({ length: 600 }, (_, status) => statusSet(String(status)));
const CLASSES = Array.from({ length: 600 }, (_, status) =>
  classSet(`${Math.floor(status / 100)}xx`),
);

/**
 * Returns the label of a status if it is registered (RFC 9110 section 16.2), since an application may answer with any
 * number.
 */
export const statusLabel = (status: number) => STATUSES[status] ?? statusSet('');
/** Returns the label for the class of the status (RFC 9110 section 15). */
export const classLabel = (status: number) => CLASSES[status] ?? classSet('');
/** Returns the label for the kind of a refusal. */
export const reasonLabel = (refusal = '') => reasonSet(labelOf(refusal));

/** Returns labels for the configured realms, and for those of the authorization server's own endpoints. */
export function spaceLabels(config: Config) {
  const realms = [...config.spaces, ...everyTokenSpace(config)].map(({ realm }) => realm);
  return closedSet('space', [
    ...realms,
    config.issuer,
    ...(config.proxy ? [config.proxy.realm] : []),
  ]);
}
