import { type Input, UsageError } from '../arguments/command.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The grant types of a client by their short names (RFC 7591 section 2, RFC 8628 section 4). */
export const GRANTS: Readonly<Record<string, string>> = {
  client_credentials: 'client_credentials',
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  device_code: DEVICE_CODE,
};

/** Grant types for people to read. */
export const shortNames = (grants: readonly string[]) =>
  grants.map((grant) => (grant === DEVICE_CODE ? 'device_code' : grant)).join(' ');

/** Whether a person stands behind one of these grants. */
export const ofPeople = (grants: readonly string[]) =>
  grants.includes('authorization_code') || grants.includes(DEVICE_CODE);

type Given = (option: string) => boolean;

/** Options that say nothing about a client of GNAP. */
const OF_OAUTH = [
  'public',
  'auth',
  'jwks',
  'without-pkce',
  'id-token-alg',
  'default-scope',
  'origin',
  'post-logout-redirect-uri',
];

/** Options that contradict each other, with the remedy. */
const CONTRADICTIONS: readonly (readonly [
  wrong: (grants: readonly string[], given: Given) => boolean,
  remedy: string,
])[] = [
  [
    (grants, given) =>
      given('gnap-key') && (grants.includes('refresh_token') || OF_OAUTH.some(given)),
    `--gnap-key: a client of GNAP proves who it is by this key; leave out --grant refresh_token, --${OF_OAUTH.join(', --')}`,
  ],
  [
    (_, given) => given('gnap-bearer') && !given('gnap-key'),
    '--gnap-bearer is about clients of GNAP: add --gnap-key FILE',
  ],
  [
    (grants, given) => given('public') && grants.includes('client_credentials'),
    '--public: it has no secret to prove who it is with: leave out --grant client_credentials',
  ],
  [
    (_, given) => given('public') && (given('auth') || given('jwks')),
    '--public: it has neither secret nor keys: leave out --auth and --jwks',
  ],
  [
    (_, given) => given('public') && given('introspects'),
    '--introspects needs a client that proves who it is: leave out --public',
  ],
  [
    (_, given) => given('public') && given('without-pkce'),
    '--public: without a secret PKCE alone ties a code to the client: leave out --without-pkce',
  ],
  [
    (grants, given) => !grants.includes('authorization_code') && given('without-pkce'),
    '--without-pkce is about authorization codes: add --grant authorization_code',
  ],
  [
    (grants, given) => !grants.includes('authorization_code') && given('first-party'),
    '--first-party is about sign-in in a browser; the device page always asks: add --grant authorization_code',
  ],
  [
    (_, given) => given('native') && given('first-party'),
    '--first-party: another program on the machine can pass for a native client (RFC 8252 section 8.6): leave out --native',
  ],
  [
    (grants, given) => given('admin') && !grants.includes('client_credentials'),
    '--admin is for a machine, and a person is an administrator by user set NAME --admin: add --grant client_credentials',
  ],
  [
    (grants) => grants.includes('refresh_token') && !ofPeople(grants),
    '--grant refresh_token renews what a person has allowed: add --grant authorization_code or --grant device_code',
  ],
  [
    (grants, given) => grants.includes('authorization_code') && !given('redirect-uri'),
    '--redirect-uri URI is missing: --grant authorization_code sends its code there',
  ],
  [
    (grants, given) =>
      !grants.includes('authorization_code') &&
      (given('redirect-uri') || given('post-logout-redirect-uri')),
    '--redirect-uri and --post-logout-redirect-uri are of browsers: add --grant authorization_code',
  ],
];

/** The grant types that were asked for; throws `UsageError` when the options do not go together. */
export function grantTypes(input: Input): readonly string[] {
  const grants = input.texts('grant').map((name) => {
    const [, grant] = Object.entries(GRANTS).find((spellings) => spellings.includes(name)) ?? [];
    if (grant === undefined) {
      throw new UsageError(`--grant must be one of ${Object.keys(GRANTS).join(', ')}`);
    }
    return grant;
  });
  refuseContradictions(grants, input.flag);
  return [...new Set(grants)];
}

/** Throws `UsageError` when these grants and what is given do not go together. */
export function refuseContradictions(grants: readonly string[], given: Given): void {
  const contradiction = CONTRADICTIONS.find(([wrong]) => wrong(grants, given));
  if (contradiction !== undefined) throw new UsageError(contradiction[1]);
}
