import { LIMITS } from '../../flows/flow.ts';
import { type Pair, type Person, startPair } from '../../pair/pair.ts';
import { AFTER_LOGOUT, CALLBACK } from '../../pair/people-client.ts';
import { type Registered, Visitor } from './suite-client.ts';

/** The scopes of the suite's clients. */
const SCOPE = 'openid profile email address phone offline_access';

/** The options by which the person has a value for each claim of each scope. */
const PROFILE = {
  'display-name': ['Alice Liddell'],
  email: ['alice@example.com,verified'],
  locale: ['en-GB'],
  picture: ['https://pictures.example/alice.png'],
  attribute: [
    'given_name=Alice',
    'family_name=Liddell',
    'middle_name=Pleasance',
    'nickname=Al',
    'profile=https://people.example/alice',
    'website=https://alice.example/',
    'gender=female',
    'birthdate=1852-05-04',
    'zoneinfo=Europe/London',
    'phone_number=+44 20 7946 0000',
    'address.street_address=Tom Quad',
    'address.locality=Oxford',
    'address.country=GB',
  ],
};

/** The started servers, a person, and the clients with which the suite plays. */
export interface OidcSite extends AsyncDisposable {
  readonly pair: Pair;
  readonly person: Person;
  readonly first: Registered;
  readonly second: Registered;
  /** A client with client_secret_post. */
  readonly byPost: Registered;
  /** Returns the person with a new browser. */
  visitor(): Visitor;
}

export async function startOidcSite(): Promise<OidcSite> {
  await using parts = new AsyncDisposableStack();
  const pair = parts.use(await startPair({ settings: { limits: LIMITS } }));
  const person = await pair.addPerson();
  const options = Object.entries(PROFILE).flatMap(([name, values]) =>
    values.flatMap((value) => [`--${name}`, value]),
  );
  await pair.cli('user', 'set', person.name, ...options);
  const [first, second, byPost] = [
    await addSuiteClient(pair),
    await addSuiteClient(pair),
    await addSuiteClient(pair, '--auth', 'client_secret_post'),
  ];
  const owned = parts.move();
  return {
    pair,
    person,
    first,
    second,
    byPost,
    visitor: () => new Visitor(pair, person),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Registers a client as docs/reference/conformance.md says. */
export async function addSuiteClient(
  pair: Pair,
  ...options: readonly string[]
): Promise<Registered> {
  const grants = ['--grant', 'authorization_code', '--grant', 'refresh_token'];
  const uris = ['--redirect-uri', CALLBACK, '--post-logout-redirect-uri', AFTER_LOGOUT];
  const usual = ['--name', 'Conformance suite', '--pkce', 'off', '--scope', SCOPE];
  const args = [...usual, ...grants, ...uris, ...options];
  const { client_id, client_secret } = await pair.cli('client', 'add', ...args);
  return { id: String(client_id), secret: String(client_secret) };
}
