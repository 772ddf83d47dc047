import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { recordConsent } from '#shared/people/access/consents.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { openDeviceFlow, type DeviceFlow } from '../device/device.fixture.ts';

const DOCUMENT = 'https://notes.example/client.json';

const client = (client_id: string, more: Partial<ClientRecord> = {}): ClientRecord => ({
  client_id,
  client_name: client_id,
  grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid',
  redirect_uris: [`https://${client_id}.example/cb`],
  created_at: 1,
  ...more,
});

const space = (name: string, more: object = {}) => ({
  url: `https://${name}.example/`,
  realm: name,
  schemes: ['Bearer'],
  serves: 'verify',
  signIn: true,
  ...more,
});

let flow: DeviceFlow;
beforeEach(async () => {
  flow = await openDeviceFlow({
    resource: 'https://files.example',
    clients: { documents: 'allow' },
    spaces: [
      space('wiki'),
      space('chess', { allow: { groups: ['chess'] } }),
      space('staff', { allow: { groups: ['staff'] } }),
      space('named', { allow: { people: ['nobody'] } }),
      space('hidden', { signIn: { hidden: true } }),
      space('plain', { signIn: undefined }),
    ],
  });
});
afterEach(async () => flow[Symbol.asyncDispose]());

/** Returns the addresses of the links to applications, in the order of the page of a person. */
async function starts(name: 'alice' | 'bob' = 'alice'): Promise<readonly string[]> {
  const { text } = await (await flow.signedIn(name)).open('/account');
  const [, list = ''] = /<ul class="starts">(.*?)<\/ul>/s.exec(text) ?? [];
  return [...list.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
}

async function intoGroup(group: string): Promise<void> {
  const { people } = flow.authz.stores;
  const now = (await people.get(flow.people.alice.id)) ?? flow.people.alice;
  await people.replace({ ...now, version: now.version + 1, profile: { groups: [group] } });
}

describe('the applications that a person may open', () => {
  test('the page lists clients with a start URL and spaces with sign-in, by name', async () => {
    const { clients } = flow.authz.stores;
    await clients.add(client('zebra', { start_url: 'https://zebra.example/start?a=b&c=d' }));
    await clients.add(client('Äpfel', { start_url: 'http://10.0.0.7:8080/' }));
    await clients.add(client('without'));
    expect(await starts()).toEqual([
      'http://10.0.0.7:8080/',
      'https://wiki.example/',
      'https://zebra.example/start?a=b&amp;c=d',
    ]);
  });

  test('a client for a group is listed only for the people of the group', async () => {
    const start_url = 'https://board.example/';
    await flow.authz.stores.clients.add(client('board', { start_url, allow_groups: ['board'] }));
    expect(await starts()).not.toContain(start_url);
    await intoGroup('board');
    expect(await starts()).toContain(start_url);
    expect(await starts('bob')).not.toContain(start_url);
  });

  test('a client for the person is listed, however many there are for other people', async () => {
    const { clients } = flow.authz.stores;
    for (let n = 0; n < 260; n += 1) {
      const start_url = `https://app.example/${n}`;
      await clients.add(client(`a${n}`, { start_url, allow_groups: ['board'] }));
    }
    const start_url = 'https://z.example/';
    const rules = { allow_groups: ['chess', 'staff'], allow_people: ['alice'] };
    await clients.add(client('z', { start_url, ...rules }));
    expect(await starts()).toEqual(['https://wiki.example/', start_url]);
    await intoGroup('chess');
    expect((await starts()).filter((url) => url === start_url)).toHaveLength(1);
  });

  test('a space that people may not enter is listed only for the people of its groups', async () => {
    expect(await starts()).toEqual(['https://wiki.example/']);
    await intoGroup('chess');
    expect(await starts()).toEqual(['https://chess.example/', 'https://wiki.example/']);
    expect(await starts('bob')).toEqual(['https://wiki.example/']);
  });

  test('a client with a document is listed only for the people who allowed it something', async () => {
    const { authz, store, people } = flow;
    const described = client(DOCUMENT, {
      start_url: 'https://notes.example/',
      document: { fetched: 1, until: 2, changed: 1 },
    });
    await authz.stores.clients.add(described);
    expect(await starts()).toEqual(['https://wiki.example/']);
    const consent = {
      accountId: people.alice.id,
      clientId: DOCUMENT,
      redirectHost: 'notes.example',
      generation: 0,
      since: Date.now(),
      allowed: { '': ['openid'] },
      refused: {},
    };
    await recordConsent(store, consent, described, 60);
    expect(await starts()).toEqual(['https://notes.example/', 'https://wiki.example/']);
    expect(await starts('bob')).toEqual(['https://wiki.example/']);
  });

  test('the policy of the page allows the origins of the logos, up to a length that proxies accept', async () => {
    const { clients } = flow.authz.stores;
    for (let at = 10; at < 99; at++) {
      const logo_uri = `https://${'x'.repeat(40)}${at}.example/logo.png?size=64`;
      await clients.add(client(`c${at}`, { start_url: 'https://app.example/', logo_uri }));
    }
    const page = await (await flow.signedIn('alice')).open('/account');
    const policy = page.headers.get('content-security-policy') ?? '';
    const [, sources = ''] = /img-src ([^;]*)/.exec(policy) ?? [];
    expect(sources).toContain(`https://${'x'.repeat(40)}10.example/`);
    expect(policy.length).toBeLessThan(3000);
    const shown = [...page.text.matchAll(/<img src="(https:[^"]*)"/g)].map(([, src = '']) => src);
    expect(shown.length).toBeGreaterThan(20);
    for (const src of shown) expect(sources).toContain(`${new URL(src).origin}/`);
    expect(await starts()).toHaveLength(90);
  });
});
