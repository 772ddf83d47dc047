import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createRecorder } from '#shared/audit/recorder.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { documentNetwork } from '#shared/client-documents/reach.ts';
import type { House } from '#shared/operations/operation.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { setClient } from '#shared/operations/clients/client-set.ts';
import { setUser } from '#shared/operations/people/user-set.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { type TestKey, testKey } from '#shared/gnap/client.fixture.ts';
import type { UseRules } from '#shared/stores/oauth/use-rules.ts';
import type { TestBrowser } from '../browser.fixture.ts';
import { CALLBACK, redemption, VERIFIER, WEB } from '../code-flow.fixture.ts';
import { ALL, pathOf, PASSWORD, post, TV } from '../device/device.fixture.ts';
import { DOCUMENTS } from '../authz.fixture.ts';
import { type GnapFlow, openGnap, READ, REDIRECT, type Told } from './gnap.fixture.ts';
import { fetched } from '../fetched.fixture.ts';

/** Alice is in the group staff, bob is in no group. The clients are for staff. */
let gnap: GnapFlow;
let key: TestKey;
const flow = () => gnap.flow;
const STAFF = { allow_groups: ['staff'] } as const;

beforeEach(async () => {
  gnap = await openGnap({ spaces: SPACES });
  key = testKey();
  await setProfile(flow().authz, 'alice', () => ({ groups: ['staff'] }));
  await gnap.register(key, STAFF);
  await rule(STAFF);
});
afterEach(async () => gnap[Symbol.asyncDispose]());

const SPACES = [
  {
    url: DOCUMENTS,
    realm: 'documents',
    schemes: ['Bearer', 'GNAP'],
    scopes: { safe: ['documents:read', 'photos:read'], unsafe: ['documents:write'] },
  },
];

/** Replaces the rules of the clients, without an end of grants. */
async function rule(rules: UseRules): Promise<void> {
  const { clients } = flow().authz.stores;
  await clients.replace({ ...WEB, ...rules });
  await clients.replace({ ...TV, ...rules });
}

const house = (): House => {
  const { config, stores } = flow().authz;
  const parts = { ...flow().store, stores, config, random: systemRandom };
  return {
    ...parts,
    recorder: createRecorder(
      { ...parts, log: silentLog },
      { who: 'operator', how: 'command line' },
    ),
    passwords: createPasswords(argon2Once),
    realms: [],
    documentNetwork: documentNetwork(config),
    masterSecret: () => Promise.resolve(Buffer.alloc(32)),
  };
};
const leaveStaff = () => setUser.run({ name: 'alice', without: ['group'] }, house());

const authorize = (more: Record<string, string> = {}) =>
  `/auth?${new URLSearchParams({
    client_id: 'web',
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid profile documents:read offline_access',
    resource: DOCUMENTS,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    prompt: 'consent',
    ...more,
  }).toString()}`;

/** Returns what the browser brings to the client. */
const brought = (page: { readonly headers: Headers }) =>
  Object.fromEntries(new URL(page.headers.get('location') ?? 'none:').searchParams);

const DENIED = { error: 'access_denied', error_description: 'the person may not use this client' };
const NOT_FOR = 'You may not use this application';

describe('an authorization request for a client that is for other people', () => {
  const asBob = { name: 'bob', password: PASSWORD };

  test('shows who is signed in after a fresh sign-in, and the client gets access_denied if the person gives up', async () => {
    const browser = flow().browser();
    const page = await browser.submit(await browser.open(authorize()), asBob);
    expect(page.text).toContain(NOT_FOR);
    expect(page.text).toContain('<strong>bob</strong>');
    const end = await browser.submit(page, { decision: 'deny' });
    expect(brought(end)).toMatchObject(DENIED);
  });

  test('shows the same to a person who was signed in before', async () => {
    const browser = await flow().signedIn('bob');
    expect((await browser.open(authorize())).text).toContain(NOT_FOR);
  });

  test('lets the person sign in with another account, which is asked for consent', async () => {
    const browser = await flow().signedIn('bob');
    const page = await browser.open(authorize());
    const [, other = ''] = /href="(\/interaction\/[^"]*account=other)"/.exec(page.text) ?? [];
    const form = await browser.open(other);
    const consent = await browser.submit(form, { name: 'alice', password: PASSWORD });
    const answer = brought(await browser.submit(consent, { decision: 'allow' }));
    expect(answer).toHaveProperty('code');
  });

  test('shows the page again if the other account may not use the client either', async () => {
    const browser = await flow().signedIn('bob');
    const page = await browser.open(authorize());
    const [, other = ''] = /href="(\/interaction\/[^"]*account=other)"/.exec(page.text) ?? [];
    const again = await browser.submit(await browser.open(other), {
      name: 'carol',
      password: PASSWORD,
    });
    expect(again.text).toContain(NOT_FOR);
    expect(again.text).toContain('<strong>carol</strong>');
  });

  test('gets access_denied with prompt=none (OpenID Connect Core 1.0 section 3.1.2.6)', async () => {
    const browser = await flow().signedIn('bob');
    const page = await browser.open(authorize({ prompt: 'none', scope: 'openid' }));
    expect(brought(page)).toMatchObject(DENIED);
  });

  test('makes no grant, also if the person allowed the client before the rule', async () => {
    await rule({});
    const browser = await flow().signedIn('bob');
    await flow().useWeb(browser, 'openid documents:read');
    await rule(STAFF);
    const before = await listAccess(flow().store, flow().people.bob.id);
    for (const prompt of ['', 'none', 'consent']) {
      await browser.open(authorize({ prompt, scope: 'openid' }));
    }
    expect(await listAccess(flow().store, flow().people.bob.id)).toEqual(before);
  });

  test('a forged consent gives no code', async () => {
    const browser = await flow().signedIn('alice');
    const consent = await browser.open(authorize());
    await setProfile(flow().authz, 'alice', () => ({}));
    const end = await browser.submit(consent, { decision: 'allow' });
    expect(brought(end)).not.toHaveProperty('code');
    expect(await flow().grants('alice')).toBe(0);
  });

  test('a person by name may use the client, in any form of the name', async () => {
    await setClient.run(
      setClient.input.parse({ client_id: 'web', allow_people: ['BOB'] }),
      house(),
    );
    const tokens = await flow().useWeb(await flow().signedIn('bob'), 'openid documents:read');
    expect(tokens.status).toBe(200);
    expect((await flow().useWeb(await flow().signedIn('alice'), 'openid')).status).toBe(200);
    const carol = await (await flow().signedIn('carol')).open(authorize());
    expect(carol.text).toContain(NOT_FOR);
  });
});

/** Something that a client holds of alice, and what it gets for it. */
interface Held {
  /** Returns the status and the error. */
  use(): Promise<readonly [status: number, error: unknown]>;
}

const answered = ({ status, body }: { readonly status: number; readonly body: object }) =>
  [status, (body as Record<string, unknown>)['error']] as const;

async function allowedCode(): Promise<string> {
  const browser = await flow().signedIn('alice');
  const consent = await browser.open(authorize());
  return brought(await browser.submit(consent, { decision: 'allow' }))['code'] ?? '';
}

async function webTokens() {
  const { body } = await flow().authz.post('/token', redemption(await allowedCode()));
  return body;
}

async function approvedDevice() {
  const device = await flow().askAsDevice(ALL);
  const browser = await flow().signedIn('alice');
  const confirm = await browser.open(pathOf(device));
  await browser.submit(confirm, { decision: 'allow' }, '/device');
  return device;
}

/** Returns a request of GNAP that alice has allowed, and the reference that her browser brought back. */
async function approvedGnap(asked: object = READ): Promise<{ told: Told; ref: object }> {
  const told = await gnap.ask({ client: { key: key.byValue }, ...asked, interact: REDIRECT }, key);
  const { browser, page } = await gnap.onPage(told);
  const end = await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
  return { told, ref: { interact_ref: brought(end)['interact_ref'] } };
}

const HELD: Readonly<Record<string, () => Promise<Held>>> = {
  'an authorization code': async () => {
    const code = await allowedCode();
    return { use: async () => answered(await flow().authz.post('/token', redemption(code))) };
  },
  'a refresh token': async () => {
    const tokens = await webTokens();
    return { use: async () => answered(await flow().refresh('web', tokens['refresh_token'])) };
  },
  'a device code': async () => {
    const device = await approvedDevice();
    return { use: async () => answered(await flow().poll(device)) };
  },
  'the refresh token of a device': async () => {
    const { body } = await flow().poll(await approvedDevice());
    return { use: async () => answered(await flow().refresh('tv', body['refresh_token'])) };
  },
  'an access token at userinfo': async () => {
    const tokens = await webTokens();
    const headers = { authorization: `Bearer ${String(tokens['access_token'])}` };
    return {
      use: async () => {
        const answer = await fetched(`${flow().authz.url}/userinfo`, { headers });
        return [
          answer.status,
          /error="(\w+)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1],
        ];
      },
    };
  },
  'the reference of a GNAP grant': async () => {
    const { told, ref } = await approvedGnap();
    return {
      use: async () => {
        const { status, body } = await gnap.proceed(told, ref, 'POST', key);
        return [status, body.error?.code];
      },
    };
  },
  'the reference of a GNAP grant about the person alone': async () => {
    const { told, ref } = await approvedGnap({ subject: { sub_id_formats: ['opaque'] } });
    return {
      use: async () => {
        const { status, body } = await gnap.proceed(told, ref, 'POST', key);
        return [status, body.error?.code];
      },
    };
  },
  'a given GNAP grant': async () => {
    const { told, ref } = await approvedGnap();
    const given = await gnap.proceed(told, ref, 'POST', key);
    return {
      use: async () => {
        const { status, body } = await gnap.proceed(given, undefined, 'POST', key);
        return [status, body.error?.code];
      },
    };
  },
  'the management token of a GNAP token': async () => {
    const { told, ref } = await approvedGnap();
    const { body } = await gnap.proceed(told, ref, 'POST', key);
    const { uri, access_token } = body.access_token.manage;
    const path = uri.replace(gnap.issuer, '');
    return {
      use: async () => {
        const rotated = await gnap.send(path, { method: 'POST', token: access_token.value }, key);
        return [rotated.status, rotated.body.error?.code];
      },
    };
  },
};

describe.each(Object.entries(HELD))('%s', (_, hold) => {
  test('works for a person who may use the client', async () => {
    const { use } = await hold();
    expect(await use()).toEqual([200, undefined]);
  });

  test.each([
    [
      'that has left the group, before its grants have ended',
      () => setProfile(flow().authz, 'alice', () => ({})),
    ],
    ['whose group an operator takes', leaveStaff],
    [
      'whom another rule leaves out',
      async () => {
        await rule({ allow_groups: ['board'] });
        const { clients } = flow().authz.stores;
        for (const { client_id, ...client } of await clients.list()) {
          if (client.gnap) {
            await clients.replace({ client_id, ...client, allow_groups: ['board'] });
          }
        }
      },
    ],
    [
      'whose sign-in is too weak for another rule',
      async () => {
        await rule({ minimum_acr: 'passkey' });
        const { clients } = flow().authz.stores;
        for (const client of await clients.list()) {
          if (client.gnap) await clients.replace({ ...client, minimum_acr: 'passkey' });
        }
      },
    ],
  ])('gives nothing for a person %s', async (_name, change) => {
    const { use } = await hold();
    await change();
    const [status, error] = await use();
    expect([400, 401, 403]).toContain(status);
    expect([
      'invalid_grant',
      'invalid_token',
      'request_denied',
      'invalid_continuation',
      'invalid_rotation',
    ]).toContain(error);
  });
});

describe('the end of grants that a rule forbids', () => {
  test('a lost group ends the grants to its clients alone, in the same transaction', async () => {
    await flow().authz.stores.clients.add({ ...WEB, client_id: 'open' });
    const alice = await flow().signedIn('alice');
    await flow().useWeb(alice, 'openid documents:read');
    const [access] = await listAccess(flow().store, flow().people.alice.id);
    await flow().authz.stores.artefacts.put({
      kind: 'Access',
      id: 'of-open',
      payload: { ...access, grantId: 'of-open', clientId: 'open' },
      seconds: 600,
    });
    await leaveStaff();
    const left = await listAccess(flow().store, flow().people.alice.id);
    expect(left.map(({ clientId }) => clientId)).toEqual(['open']);
  });

  test('a group that stays ends nothing', async () => {
    await webTokens();
    await setUser.run({ name: 'alice', groups: ['staff', 'board'], without: [] }, house());
    expect(await flow().grants('alice')).toBe(1);
  });

  test('a change of the rule ends the grants of the people that it leaves out, before the command returns', async () => {
    await webTokens();
    await rule({});
    await flow().useWeb(await flow().signedIn('bob'), 'openid documents:read');
    await setClient.run(
      setClient.input.parse({ client_id: 'web', allow_groups: ['staff'] }),
      house(),
    );
    expect([await flow().grants('alice'), await flow().grants('bob')]).toEqual([1, 0]);
  });

  test('a weaker sign-in loses its grant when the rule demands a stronger one', async () => {
    await webTokens();
    await setClient.run(
      setClient.input.parse({ client_id: 'web', minimum_acr: 'second-factor' }),
      house(),
    );
    expect(await flow().grants('alice')).toBe(0);
  });
});

describe('the device page for a device that is for other people', () => {
  test('shows who is signed in, offers another account, and tells the device access_denied', async () => {
    const device = await flow().askAsDevice(ALL);
    const bob = await flow().signedIn('bob');
    const page = await bob.open(pathOf(device));
    expect(page.text).toContain(NOT_FOR);
    const forged = await post(bob, { user_code: device.user_code, decision: 'allow' });
    expect(forged.text).toContain(NOT_FOR);
    expect((await flow().poll(device)).body).toMatchObject({ error: 'authorization_pending' });
    await bob.submit(page, { decision: 'deny' }, '/device');
    expect((await flow().poll(device)).body).toMatchObject(DENIED);
  });

  test('lets another person sign in and allow the device', async () => {
    const device = await flow().askAsDevice(ALL);
    const browser = await flow().signedIn('bob');
    const page = await browser.open(pathOf(device));
    const [, other = ''] = /href="(\/device\?[^"]*account=other)"/.exec(page.text) ?? [];
    const form = await browser.open(other.replace('&amp;', '&'));
    const confirm = await browser.submit(form, { name: 'alice', password: PASSWORD });
    await browser.submit(confirm, { decision: 'allow' }, '/device');
    expect((await flow().poll(device)).status).toBe(200);
  });
});

describe('the page of a GNAP request for a client that is for other people', () => {
  const asked = () => gnap.ask({ client: { key: key.byValue }, ...READ, interact: REDIRECT }, key);

  test('shows who is signed in, and the client gets user_denied if the person gives up', async () => {
    const told = await asked();
    const { browser, page } = await gnap.onPage(told, 'bob');
    expect(page.text).toContain(NOT_FOR);
    const end = await browser.submit(page, { decision: 'deny' }, new URL(page.url).pathname);
    const ref = { interact_ref: brought(end)['interact_ref'] };
    expect((await gnap.proceed(told, ref, 'POST', key)).body.error.code).toBe('user_denied');
  });

  test('a forged decision to allow shows the page again', async () => {
    const { browser, page } = await gnap.onPage(await asked(), 'bob');
    const path = new URL(page.url).pathname;
    expect((await browser.submit(page, { decision: 'allow' }, path)).text).toContain(NOT_FOR);
  });

  test('asks for a stronger sign-in if the rule demands one', async () => {
    const strict = testKey();
    await gnap.register(strict, { minimum_acr: 'second-factor' });
    const told = await gnap.ask(
      { client: { key: strict.byValue }, ...READ, interact: REDIRECT },
      strict,
    );
    const { page } = await gnap.onPage(told);
    expect(page.text).toContain('second factor');
    expect(page.text).toContain('type="password"');
  });
});

describe('a client with a minimum_acr', () => {
  const signInAt = async (browser: TestBrowser) => browser.open(authorize({ prompt: '' }));

  test('asks a person with a password for more, and gets unmet_authentication_requirements', async () => {
    await rule({ minimum_acr: 'passkey' });
    const browser = await flow().signedIn('alice');
    const page = await signInAt(browser);
    expect(page.text).toContain('asks for a passkey');
    const end = await browser.submit(page, {}, page.forms.at(-1)?.action);
    expect(brought(end)['error']).toBe('unmet_authentication_requirements');
  });

  test('prompt=none gives login_required, as for acr_values', async () => {
    await rule({ minimum_acr: 'second-factor' });
    const browser = await flow().signedIn('alice');
    const page = await browser.open(authorize({ prompt: 'none', scope: 'openid' }));
    expect(brought(page)).toMatchObject({ error: 'login_required' });
  });

  test('acr_values of the request cannot weaken the rule', async () => {
    await rule({ minimum_acr: 'second-factor' });
    const browser = await flow().signedIn('alice');
    const page = await browser.open(
      authorize({ prompt: '', acr_values: 'urn:countersign:acr:password' }),
    );
    expect(page.text).toContain('asks for a second factor');
  });
});
