import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPair } from '../../pair/pair.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import type { PersonAtPages } from './person-at-pages.ts';
import { RELYING_PARTIES, type SignIn } from './relying-parties.ts';
import { WAYS } from './ways-in.ts';

/** Third-party clients learn from the ID token how a person signed in (OpenID Connect Core 1.0 section 2, RFC 8176 section 2). */
const parts = new AsyncDisposableStack();
const clients = new Map<string, SignIn>();
let pair: Pair;
beforeAll(async () => {
  // Browsers make passkeys for a host name, not for an IP address (WebAuthn section 5.1.3).
  pair = parts.use(await startPair({ issuerHost: 'localhost' }));
  for (const [library, register] of Object.entries(RELYING_PARTIES)) {
    clients.set(library, await register(pair, parts));
  }
});
afterAll(() => parts.disposeAsync());

describe.each(Object.entries(WAYS))('a person who signs in by %s', (name, way) => {
  let person: Person;
  let browser: PersonAtPages;
  beforeAll(async () => {
    person = await pair.addPerson(name);
    browser = await way.person(pair, person);
  });

  // At the first client the person signs in; the other clients get the same session.
  test.each(Object.keys(RELYING_PARTIES))('acr and amr reach %s', async (library) => {
    expect(await clients.get(library)?.(browser)).toMatchObject({
      sub: person.id,
      acr: `urn:countersign:acr:${name}`,
      amr: way.amr,
    });
  });
});
