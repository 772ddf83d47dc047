import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ACRS } from '#shared/jose/acr.ts';
import { somePerson } from '#shared/stores/contract/samples.ts';
import { type Application, startApplication } from '../gateway.fixture.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

const [, PASSWORD, SECOND_FACTOR, PASSKEY] = ACRS;
const AUTHENTICATION = [
  { acr: 'second-factor', methods: ['unsafe'] },
  { acr: 'passkey', maxAge: 300, methods: ['DELETE', 'MOVE'] },
];
const scopes = (name: string) => ({ safe: [`${name}:read`], unsafe: [`${name}:write`] });

let rs: TestResourceServer;
let application: Application;
beforeAll(async () => {
  application = await startApplication();
  const space = (name: string, more: object = {}) => ({
    url: `${RESOURCE}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: scopes(name),
    authentication: AUTHENTICATION,
    ...more,
  });
  rs = await startResourceServer({
    spaces: [
      space('documents'),
      space('gate', { serves: 'upstream', upstream: { url: application.url } }),
      space('app', { url: 'https://app.example/', serves: 'verify' }),
      space('mixed', {
        schemes: ['Bearer', 'Basic', 'API-Key'],
        grants: { everyone: ['mixed:read', 'mixed:write'] },
      }),
    ],
  });
});
afterAll(async () => {
  await rs?.[Symbol.asyncDispose]();
  await application?.[Symbol.asyncDispose]();
});

/** Makes a person's token for a space, with these claims about the sign-in. */
const tokenFor = (name: string, claims: object) =>
  rs.token(`${name}:read ${name}:write`, { sub: 'alice', sub_gen: 0, ...claims });

/**
 * The interfaces of the server: each with a function that sends a request with these fields, and the statuses of
 * admitted requests.
 */
const DOORS = {
  documents: (method: string, headers: object) =>
    rs.ask(method, '/documents/step-up', { headers: { ...headers } }),
  gate: (method: string, headers: object) =>
    rs.ask(method, '/gate/step-up', { headers: { ...headers } }),
  app: (method: string, headers: object) =>
    rs.ask('GET', '/verify', {
      headers: {
        'X-Forwarded-Method': method,
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'app.example',
        'X-Forwarded-Uri': '/step-up',
        ...headers,
      },
    }),
};

describe.each(Object.entries(DOORS))('at %s', (name, through) => {
  const send = (method: string, claims: object) =>
    through(method, { Authorization: `Bearer ${tokenFor(name, claims)}` });
  const fresh = () => ({ auth_time: rs.now() });

  test.each([
    ['DELETE', {}],
    ['DELETE', { acr: PASSKEY }],
    ['DELETE', { acr: PASSWORD, auth_time: 0 }],
    ['MOVE', { acr: SECOND_FACTOR, auth_time: 4e9 }],
    ['POST', { acr: PASSWORD, auth_time: 4e9 }],
    ['POST', { acr: 'urn:countersign:acr:PASSKEY' }],
    ['POST', { acr: `${PASSWORD} ${PASSKEY}` }],
  ])(
    'a %s with the sign-in %j is 401, and the application gets no request',
    async (method, claims) => {
      const before = application.asked.length;
      const reply = await send(method, claims);
      expect(reply.status).toBe(401);
      const challenge = String(reply.headers['www-authenticate']);
      const asked =
        method === 'POST'
          ? `acr_values="${SECOND_FACTOR} ${PASSKEY}", `
          : `acr_values="${PASSKEY}", max_age="300", `;
      for (const scheme of ['Bearer', 'DPoP']) {
        expect(challenge).toMatch(
          new RegExp(
            `${scheme} realm="${name}", error="insufficient_user_authentication", error_description="[^"]*", ${asked}scope="${name}:write ${name}:read", resource_metadata="`,
          ),
        );
      }
      expect(application.asked.length).toBe(before);
    },
  );

  test.each([
    ['DELETE', PASSKEY],
    ['POST', PASSKEY],
    ['POST', SECOND_FACTOR],
    ['GET', PASSWORD],
  ])('a %s after a recent sign-in by %s is accepted', async (method, acr) => {
    const reply = await send(method, { acr, ...fresh() });
    expect(reply.status).not.toBe(401);
    expect(reply.status).not.toBe(403);
  });

  test('a sign-in in the future, beyond the clock tolerance, does not count as recent', async () => {
    const { skew } = rs.config.tokens;
    const at = async (auth_time: number) =>
      (await send('DELETE', { acr: PASSKEY, auth_time })).status;
    expect(await at(rs.now() + skew)).not.toBe(401);
    expect(await at(rs.now() + skew + 1)).toBe(401);
    expect(await at(rs.now() - 300 - skew)).not.toBe(401);
    expect(await at(rs.now() - 301 - skew)).toBe(401);
  });

  test.each([
    { acr: 5 },
    { acr: [PASSKEY] },
    { acr: '' },
    { acr: null },
    { auth_time: 'now' },
    { auth_time: null },
    { auth_time: { valueOf: 1 } },
  ])('a token with a malformed claim %j is refused', async (claims) => {
    const reply = await send('GET', claims);
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  test('parameters and fields of the client do not change the required sign-in', async () => {
    const Authorization = `Bearer ${tokenFor(name, { acr: PASSWORD, ...fresh() })}`;
    const reply = await through('DELETE', {
      Authorization,
      acr: PASSKEY,
      'X-Auth-Acr': PASSKEY,
      'X-HTTP-Method-Override': 'GET',
    });
    expect(reply.status).toBe(401);
  });

  test('a token of an application has no sign-in, so a space with step-up refuses it', async () => {
    const token = rs.token(`${name}:read ${name}:write`);
    const reply = await through('POST', { Authorization: `Bearer ${token}` });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toContain('insufficient_user_authentication');
  });

  test('a token that also lacks the scope gets one answer with both requirements', async () => {
    const token = rs.token(`${name}:read`, { sub: 'alice', sub_gen: 0, acr: PASSWORD });
    const reply = await through('DELETE', { Authorization: `Bearer ${token}` });
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toMatch(
      new RegExp(`max_age="300", scope="${name}:write ${name}:read"`),
    );
  });

  test('a sufficient sign-in without the scope is 403', async () => {
    const claims = { sub: 'alice', sub_gen: 0, acr: PASSKEY, ...fresh() };
    const token = rs.token(`${name}:read`, claims);
    const reply = await through('DELETE', { Authorization: `Bearer ${token}` });
    expect(reply.status).toBe(403);
    expect(reply.headers['www-authenticate']).toContain('error="insufficient_scope"');
  });
});

test('RFC 9449: a bound token with a sign-in that is too weak gets the challenge, and its proof is spent', async () => {
  const { jkt, proof } = prover(rs.now);
  const token = tokenFor('documents', { acr: PASSWORD, cnf: { jkt } });
  const target = { htm: 'DELETE', htu: `${RESOURCE}/documents/step-up` };
  const fields = { Authorization: `DPoP ${token}`, DPoP: proof(token, target) };
  const reply = await rs.ask('DELETE', '/documents/step-up', { headers: fields });
  expect(reply.status).toBe(401);
  expect(reply.headers['www-authenticate']).toMatch(
    /DPoP realm="documents", error="insufficient_user_authentication".*max_age="300".*algs=/,
  );
  const again = await rs.ask('DELETE', '/documents/step-up', { headers: fields });
  expect(again.headers['www-authenticate']).toContain('error="invalid_dpop_proof"');
});

describe('schemes whose credentials have no sign-in', () => {
  const overTls = (method: string, path: string, password: string) =>
    rs.ask(method, path, {
      headers: {
        Host: 'rs.example',
        'X-Forwarded-Proto': 'https',
        Authorization: `Basic ${btoa(`alice:${password}`)}`,
      },
    });

  test('schemes without a sign-in never satisfy step-up, and get only challenges of schemes that can', async () => {
    const person = { ...somePerson('alice'), password_hash: await hash('open sesame') };
    await rs.stores.people.add(person);
    const reply = await overTls('DELETE', '/mixed/a', 'open sesame');
    expect(reply.status).toBe(401);
    const challenge = String(reply.headers['www-authenticate']);
    expect(challenge).toMatch(/^Bearer .*error="insufficient_user_authentication"/);
    expect(challenge).not.toContain('Basic');
    const read = await overTls('GET', '/mixed/', 'open sesame');
    expect(read.status).toBe(200);
  });

  test('a wrong password gets the usual challenges, and nothing about sign-ins', async () => {
    const reply = await overTls('DELETE', '/mixed/a', 'wrong');
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toContain('Basic');
    expect(reply.headers['www-authenticate']).not.toContain('acr_values');
  });
});

test('a request without credentials does not learn which sign-in is required', async () => {
  const reply = await rs.ask('DELETE', '/documents/a');
  expect(reply.status).toBe(401);
  expect(reply.headers['www-authenticate']).not.toMatch(/acr_values|max_age/);
});

test('the log line says which sign-in is required', async () => {
  const token = tokenFor('documents', { acr: PASSWORD });
  await rs.ask('DELETE', '/documents/a', { headers: { Authorization: `Bearer ${token}` } });
  expect(JSON.parse(rs.lines.at(-1) ?? '')).toMatchObject({
    verdict: 'refused',
    subject: 'alice',
    reason: 'needs a sign-in with a passkey at most 300 seconds ago',
  });
});
