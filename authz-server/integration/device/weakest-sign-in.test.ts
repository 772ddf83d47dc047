import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Acr } from '#shared/jose/acr.ts';
import { endForbidden } from '#shared/people/access/of-client.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { type DeviceFlow, openDeviceFlow } from './device.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import { CALLBACK, VERIFIER, WEB } from '../code-flow.fixture.ts';

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow();
});
afterEach(async () => flow[Symbol.asyncDispose]());

const [PASSWORD, PASSKEY] = [
  'urn:countersign:acr:password',
  'urn:countersign:acr:passkey',
] as const;

const access = async () => (await listAccess(flow.store, flow.people.alice.id))[0]!;

/** Writes the grant as if it had been allowed after a sign-in of this kind. */
async function allowedWith(acr: Acr): Promise<void> {
  const { scopes: _, lastIssue: __, ...payload } = await access();
  const id = payload.grantId;
  const { artefacts } = flow.authz.stores;
  await artefacts.put({ kind: 'Access', id, payload: { ...payload, acr }, seconds: 600 });
}

/** Replaces the sign-in as if it had been of this kind. The engine's session stays. */
async function signedInWith(acr: Acr): Promise<void> {
  const { artefacts } = flow.authz.stores;
  const [signIn] = await artefacts.listByAccount('SignIn', flow.people.alice.id);
  const payload = { ...signIn, assurance: { acr, amr: ['swk'] } };
  await artefacts.put({ kind: 'SignIn', id: String(signIn?.['uid']), payload, seconds: 600 });
}

/** A request for what the grant allows already. */
const AGAIN = `/auth?${new URLSearchParams({
  client_id: WEB.client_id,
  response_type: 'code',
  redirect_uri: CALLBACK,
  scope: 'openid documents:read',
  resource: DOCUMENTS,
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}).toString()}`;

const read = (browser: TestBrowser) => flow.useWeb(browser, 'openid documents:read');

describe('a grant has the strength of the weakest sign-in with which it was used', () => {
  test('a code after a weaker sign-in weakens it, so that a stricter rule ends its tokens', async () => {
    const browser = await flow.signedIn('alice');
    await read(browser);
    await allowedWith(PASSKEY);
    const again = await browser.open(AGAIN);
    expect(again.headers.get('location')).toContain('code=');
    expect((await access()).acr).toBe(PASSWORD);
    await flow.authz.stores.clients.replace({ ...WEB, minimum_acr: 'passkey' });
    await endForbidden({ ...flow.store, stores: flow.authz.stores }, WEB.client_id);
    expect(await flow.grants('alice')).toBe(0);
  });

  test('more scopes after a stronger sign-in do not strengthen it', async () => {
    const browser = await flow.signedIn('alice');
    await read(browser);
    await signedInWith(PASSKEY);
    await flow.useWeb(browser, 'openid documents:read documents:write');
    expect(await access()).toMatchObject({
      acr: PASSWORD,
      scopes: { [DOCUMENTS]: ['documents:read', 'documents:write'] },
    });
  });
});
