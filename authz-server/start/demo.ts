import { CLI } from '#shared/base/invocation.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { DEMO_ORIGINS } from '#shared/config/tour.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { newSecret } from '#shared/people/client-secret.ts';
import { newPassword } from '#shared/people/new-password.ts';
import { addPerson } from '#shared/people/people.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { spaceScopes } from '../resources/resource-indicators.ts';

export interface DemoParts extends Omit<PeopleStore, 'realms'> {
  readonly config: Config;
  readonly stores: PeopleStore['stores'] & Pick<Stores, 'apiKeys' | 'clients' | 'replay'>;
}

/** The person, keys and clients that were created for a first trial. */
export interface Made {
  /** The lines for a person to read, which can be pasted into a shell. */
  readonly lines: readonly string[];
  /** The secrets by the names that the README's tour uses, in a form that a shell can source. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Creates something if it never existed. */
type Make = (parts: DemoParts) => Promise<Made | undefined>;

/** Returns everything that the first start creates. */
export function demo(config: Config): readonly Make[] {
  const keys = spacesOf(config, 'API-Key').map((space) => application(space));
  return [machine, person, ...keys.slice(0, 1), browser, device];
}

/** Returns the spaces with this scheme; those with no other scheme come first. */
function spacesOf({ spaces }: Config, scheme: SpaceConfig['schemes'][number]): SpaceConfig[] {
  return spaces
    .filter(({ schemes }) => schemes.includes(scheme))
    .toSorted((a, b) => a.schemes.length - b.schemes.length);
}

async function machine(parts: DemoParts): Promise<Made | undefined> {
  const { issuer } = parts.config;
  const documents = takesTokens(parts.config);
  const { secret, secret_hash } = newSecret(parts.random);
  const made = await addClient(parts, {
    client_id: 'demo-machine',
    client_name: 'Demo machine',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash,
    scope: documentScopes(parts).join(' '),
  });
  if (!made) return undefined;
  const lines = [
    '# A machine: client credentials',
    'client_id      demo-machine',
    `client_secret  ${secret}`,
    `TOKEN=$(curl -s ${issuer}/token -u demo-machine:${secret} -d grant_type=client_credentials \\`,
    `  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    ...(documents ? [`curl -i ${documents.url} -H "Authorization: Bearer $TOKEN"`] : []),
  ];
  return { lines, variables: { SECRET: secret } };
}

async function person(parts: DemoParts): Promise<Made | undefined> {
  const { people } = parts.stores;
  if ((await people.getByName('demo')) !== undefined || (await people.isFormerName('demo'))) {
    return undefined;
  }
  const { config } = parts;
  const password = newPassword(parts.random);
  const store = { ...parts, realms: neededVerifiers(config) };
  await addPerson(store, { name: 'demo', password, demo: true });
  const lines = [
    `# A person, who signs in at ${config.issuer}/account`,
    'name           demo',
    `password       ${password}`,
    ...CURL.flatMap(([scheme, option]) =>
      config.spaces
        .filter(({ schemes }) => schemes.length === 1 && schemes[0] === scheme)
        .slice(0, 1)
        .map(({ url }) => `curl -i ${option} -u demo:${password} ${url}`),
    ),
  ];
  return { lines, variables: { PASSWORD: password } };
}

/** The options that make curl use a scheme. */
const CURL = [
  ['Basic', '--basic'],
  ['Digest', '--digest'],
] as const;

/** Creates an API key for a space that accepts API keys. */
function application(space: SpaceConfig): Make {
  const { url, realm, apiKey } = space;
  return async ({ stores: { apiKeys }, clock, random }) => {
    if ((await apiKeys.list()).some(({ demo: made }) => made)) return undefined;
    const { id, key, secret_hash } = newApiKey(random);
    await apiKeys.add({
      id,
      application: 'demo-application',
      realm,
      secret_hash,
      scopes: [...spaceScopes(space)],
      created_at: clock.now(),
      demo: true,
    });
    const lines = [
      '# An application, by an API key',
      `curl -i -H "${apiKey.field}: ${key}" ${url}`,
    ];
    return { lines, variables: { KEY: key } };
  };
}

async function browser(parts: DemoParts): Promise<Made | undefined> {
  const pages = DEMO_ORIGINS.map((origin) => `${origin}/`);
  const made = await addClient(parts, {
    client_id: 'demo-browser',
    client_name: 'Demo application',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    redirect_uris: pages,
    post_logout_redirect_uris: pages,
    origins: DEMO_ORIGINS,
    ...scopesForPeople(parts),
  });
  if (!made) return undefined;
  const lines = [
    `# An application in the browser, public: code and PKCE, redirect URI ${pages.join(' or ')}`,
    'client_id      demo-browser',
  ];
  return { lines, variables: {} };
}

async function device(parts: DemoParts): Promise<Made | undefined> {
  const made = await addClient(parts, {
    client_id: 'demo-device',
    client_name: 'Countersign CLI',
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...scopesForPeople(parts),
  });
  if (!made) return undefined;
  const lines = [
    '# A device, public: the command line itself, which the person lets in with',
    `# ${CLI} login`,
    'client_id      demo-device',
  ];
  return { lines, variables: {} };
}

/** Returns false if the client exists, or was removed: its old tokens must not become valid again. */
async function addClient(
  { stores, clock }: DemoParts,
  client: Omit<ClientRecord, 'demo' | 'created_at'>,
): Promise<boolean> {
  const generation = await stores.revocations.generation('client', client.client_id);
  if (generation > 0) return false;
  return stores.clients.add({
    ...client,
    // The default that a client expects (OpenID Connect Registration 1.0 section 2).
    id_token_signed_response_alg: 'RS256',
    demo: true,
    created_at: clock.now(),
  });
}

const takesTokens = ({ spaces }: Config) =>
  spaces.find(({ schemes }) => schemes.includes('Bearer') || schemes.includes('DPoP'));

function documentScopes({ config }: DemoParts): readonly string[] {
  const documents = takesTokens(config);
  return documents ? [...spaceScopes(documents)] : [];
}

function scopesForPeople(parts: DemoParts): Pick<ClientRecord, 'scope' | 'default_scope'> {
  const usual = ['openid', 'profile', ...documentScopes(parts)].join(' ');
  const { privateTokens, spaces } = parts.config;
  const more = [
    'offline_access',
    ...(privateTokens ? [REQUEST_SCOPE] : []),
    ...spaces
      .filter(({ serves, hide }) => serves === 'push' || hide === 'forbidden')
      .flatMap((space) => Array.from(spaceScopes(space))),
  ];
  return { scope: [usual, ...more].join(' '), default_scope: usual };
}
