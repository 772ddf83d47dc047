import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { type Flow, startFlowOn, type StoreKind } from '../../flows/flow.ts';
import { type Dice, dice, pick } from '../dice.ts';
import { type Heard, overHttp1 } from '../two-ways/over-http1.ts';
import type { Differential } from '../two-ways/two-ways.ts';
import { type Machine, type TokenAsked, tokenAsked } from './token-asked.ts';

/** Requests between two changes of clients; WIDTH requests run at a time. */
const BETWEEN = 60;
const WIDTH = 6;
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** How often each status came. */
export type Statuses = Readonly<Record<number, number>>;

const SETTINGS = ({ resource }: { resource: string }) => ({
  trustedProxies: ['127.0.0.0/8'],
  spaces: [
    ...['documents', 'app'].map((name) => ({
      url: `${resource}/${name}/`,
      realm: name,
      schemes: ['Bearer', 'DPoP'],
      scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    })),
    {
      url: `${resource}/open/`,
      realm: 'open',
      schemes: ['Bearer', 'DPoP'],
      allow: { clients: ['basic'] },
    },
  ],
});

/**
 * Runs two authorization servers on one store: one answers client credentials directly, the other through
 * oidc-provider. Each generated request goes to both, while clients are removed, changed and revoked.
 * Rejects for a difference in status, fields, JSON or JWT.
 */
export async function compareTokenWays(
  kind: StoreKind,
  { seed, requests, progress }: Differential,
): Promise<Statuses> {
  await using flow = await startFlowOn(kind, { authz: 2, settings: SETTINGS });
  const [direct, through] = flow.pair.authz;
  assert(direct && through);
  const file = join(flow.pair.data, 'config-1.json');
  const config = JSON.parse(await readFile(file, 'utf8'));
  await through.kill();
  await writeFile(file, JSON.stringify({ ...config, tokens: { direct: false } }));
  await through.start();

  const roll = dice(seed);
  const { resource } = flow.pair;
  const { machines, change } = await knownMachines(flow, `${resource}/open/`);
  const host = new URL(flow.pair.issuer).host;
  const resources = [
    `${resource}/documents/`,
    `${resource}/app/`,
    `${resource}/open/`,
    `${resource}/unknown/`,
    `${resource}/app/#x`,
    'app',
    '',
  ] as const;
  const statuses: Record<number, number> = {};

  async function judge(): Promise<void> {
    const asked = tokenAsked(roll, host, machines, resources);
    const ask = () =>
      Promise.all([
        answerTo(asked, flow, direct?.url ?? ''),
        answerTo(asked, flow, through?.url ?? ''),
      ]);
    let [one, other] = await ask();
    // On a busy machine the store may answer one server too late.
    while ([one, other].some(({ status }) => status === 503)) [one, other] = await ask();
    assert.deepEqual(one, other, `seed ${seed}: ${JSON.stringify(asked)}`);
    statuses[one.status] = (statuses[one.status] ?? 0) + 1;
  }

  for (let sent = 0; sent < requests; sent += BETWEEN) {
    const left = Array.from({ length: BETWEEN }).values();
    const lane = async () => {
      for (const _ of left) await judge();
    };
    await Promise.all(Array.from({ length: WIDTH }, lane));
    await change(roll);
    progress?.(sent);
  }
  return statuses;
}

/** The answer without random values and times. */
async function answerTo(asked: TokenAsked, flow: Flow, url: string): Promise<Heard> {
  const { issuer } = flow.pair;
  const form = [...asked.form];
  if (asked.assertion) {
    const { machine, claims } = asked.assertion;
    form.push(['client_assertion', await assertionOf(machine, issuer, claims)]);
    form.push(['client_assertion_type', ASSERTION]);
  }
  const content =
    asked.content ??
    new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString();
  const proof = asked.proof && (await proofOf(asked.proof, issuer, url));
  const fields = [...asked.fields, ...(proof === undefined ? [] : [['DPoP', proof] as const])];
  const pieces = written(asked, fields, Buffer.from(content));
  if (asked.proof?.twice) await overHttp1(url, ...pieces);
  const { status, rest } = await overHttp1(url, ...pieces);
  return { status, rest: rest.map(plain).toSorted() };
}

function written(
  { target, sent }: TokenAsked,
  fields: TokenAsked['fields'],
  content: Buffer,
): Buffer[] {
  const length =
    sent === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${content.length}`;
  const lines = [...fields.map(([name, value]) => `${name}: ${value}`), length];
  const head = Buffer.from(`POST ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (sent === 'in two') return [head, content];
  if (sent === 'whole' || content.length === 0) {
    return [Buffer.concat([head, content, Buffer.from(sent === 'chunked' ? '0\r\n\r\n' : '')])];
  }
  const size = Buffer.from(`${content.length.toString(16)}\r\n`);
  return [Buffer.concat([head, size, content, Buffer.from('\r\n0\r\n\r\n')])];
}

/** The request id as an error page shows it. */
const REQUEST_ID = /(?<=Request <code>)[\w-]+/;

/** A line of an answer without random values, without times, and with its field name in lower case. */
function plain(line: string): string {
  const [, name] = /^([\w-]+): /.exec(line) ?? [];
  if (name !== undefined) {
    const lower = name.toLowerCase();
    return lower === 'dpop-nonce' ? lower : lower + line.slice(name.length);
  }
  // The next answer on the connection may follow the JSON.
  const [, json, behind = ''] = /^(\{"access_token".*\})(.*)$/.exec(line) ?? [];
  if (json === undefined) return line.replace(REQUEST_ID, '');
  const { access_token = '', ...rest } = JSON.parse(json) as Record<string, string>;
  const { jti, iat = 0, exp = 0, cnf, ...claims } = decodeJwt(access_token);
  return JSON.stringify([
    Object.keys(JSON.parse(json)),
    decodeProtectedHeader(access_token),
    Object.keys(decodeJwt(access_token)),
    { ...claims, jti: jti?.length, life: exp - iat, bound: cnf !== undefined },
    rest,
    behind,
  ]);
}

const proofKeys = generateKeyPair('ES256');

async function proofOf(
  { claims, nonce }: Pick<NonNullable<TokenAsked['proof']>, 'claims' | 'nonce'>,
  issuer: string,
  url: string,
): Promise<string> {
  const { privateKey, publicKey } = await proofKeys;
  const now = Math.floor(Date.now() / 1000);
  const good = { jti: randomUUID(), htm: 'POST', htu: `${issuer}/token`, iat: now };
  const known = nonce ? { nonce: await nonceOf(issuer, url) } : {};
  return new SignJWT({ ...good, ...known, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .sign(privateKey);
}

/** The DPoP nonces of each server, with the time until which they are used. */
const nonces = new Map<string, { readonly nonce: string; readonly until: number }>();

/** Returns the nonce that the server sends for an old proof. */
async function nonceOf(issuer: string, url: string): Promise<string> {
  const known = nonces.get(url);
  if (known && known.until > Date.now()) return known.nonce;
  const { headers } = await fetch(`${url}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`basic:${SECRET}`)}`,
      dpop: await proofOf({ claims: { iat: 1 }, nonce: false }, issuer, url),
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const nonce = headers.get('dpop-nonce');
  assert(nonce);
  nonces.set(url, { nonce, until: Date.now() + 30_000 });
  return nonce;
}

function assertionOf({ id, shows }: Machine, issuer: string, claims: object): Promise<string> {
  assert(shows.by === 'assertion');
  const now = Math.floor(Date.now() / 1000);
  const good = { iss: id, sub: id, aud: issuer, jti: randomUUID(), exp: now + 60 };
  return new SignJWT({ ...good, ...claims }).setProtectedHeader({ alg: 'ES256' }).sign(shows.key);
}

const SECRET = 'a-secret_of.the~test';

interface KnownMachines {
  readonly machines: readonly [Machine, ...Machine[]];
  /** Changes a client in the store. The next request to either server must use the change. */
  change(roll: Dice): Promise<unknown>;
}

async function knownMachines({ stores, until }: Flow, open: string): Promise<KnownMachines> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const common = {
    client_name: 'Test',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash: createHash('sha256').update(SECRET).digest('base64url'),
    scope: 'documents:read documents:write app:read',
    created_at: 0,
  } satisfies Omit<ClientRecord, 'client_id'>;
  const records: readonly [ClientRecord, ...ClientRecord[]] = [
    { ...common, client_id: 'basic' },
    { ...common, client_id: 'post', token_endpoint_auth_method: 'client_secret_post' },
    { ...common, client_id: 'default', default_scope: 'app:read' },
    { ...common, client_id: 'openid', scope: 'openid documents:read offline_access' },
    { ...common, client_id: 'nothing', scope: '' },
    { ...common, client_id: 'ruled', claim_rules: ['tenant="acme"', 'live=true', 'who=username'] },
    { ...common, client_id: 'narrow', resources: ['https://none.example/'] },
    { ...common, client_id: 'open', scope: '', resources: [open] },
    { ...common, client_id: 'https://odd.example/?a=b&c', scope: 'app:read' },
    {
      ...common,
      client_id: 'code',
      grant_types: ['authorization_code'],
      redirect_uris: ['https://pages.example/callback'],
    },
    {
      ...common,
      client_id: 'assertion',
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] },
    },
    {
      ...common,
      client_id: 'public',
      token_endpoint_auth_method: 'none',
      grant_types: ['client_credentials', 'authorization_code'],
      redirect_uris: ['https://pages.example/callback'],
    },
  ];
  for (const record of records) await stores.clients.add(record);

  const secret = { by: 'secret', secret: SECRET } as const;
  const shows = (id: string): Machine['shows'] => {
    if (id === 'assertion') return { by: 'assertion', key: privateKey };
    return id === 'public' ? { by: 'nothing' } : secret;
  };
  const machines = records.map(({ client_id: id }) => ({ id, shows: shows(id) }));
  const usual: Machine = { id: 'basic', shows: secret };

  const restore = async (record: ClientRecord) =>
    (await stores.clients.add(record)) || stores.clients.replace(record);
  const changes = [
    restore,
    restore,
    restore,
    restore,
    ({ client_id }: ClientRecord) => stores.clients.remove(client_id),
    (record: ClientRecord) => stores.clients.replace({ ...record, secret_hash: 'another' }),
    (record: ClientRecord) => stores.clients.replace({ ...record, scope: 'app:read' }),
    ({ client_id }: ClientRecord) => stores.revocations.raise('client', client_id, until()),
  ] as const;
  return {
    machines: [usual, usual, usual, { id: 'nobody', shows: secret }, ...machines],
    async change(roll) {
      const record = pick(roll, records);
      // The client that asks for nonces is never changed.
      if (record.client_id !== 'basic') await pick(roll, changes)(record);
    },
  };
}
