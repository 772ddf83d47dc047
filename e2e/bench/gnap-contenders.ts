import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeProtectedHeader } from 'jose';
import { epochSeconds, systemClock } from '#shared/base/clock.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { signedBy, type TestKey, testKey, type TestRequest } from '#shared/gnap/client.fixture.ts';
import type { BatchContender } from './batch-load.ts';
import type { Server } from './cpu.ts';
import { reader } from './gate-contenders.ts';
import type { HttpContender } from './http-load.ts';
import { fresh, type HttpRequest, type Load } from './requests.ts';
import { ES256, ORIGIN, SCOPE, SETTINGS } from './site.ts';
import type { Countersign } from './targets/countersign.ts';
import { startBareVerifier } from './targets/bare.ts';
import { PROOFS } from './token-contenders.ts';
import type { SigningParty, VerifierName } from './verifiers.ts';

/** The space accepts GNAP and Bearer. */
export const GNAP_SETTINGS = {
  ...SETTINGS,
  gnap: {},
  spaces: [{ ...SETTINGS.spaces[0], schemes: ['Bearer', 'GNAP'] }],
};

/** A registered client that acts for itself. */
export interface GnapClient {
  readonly alg: SigningParty['alg'];
  readonly key: TestKey;
  /** The client's instance identifier. */
  readonly id: string;
  readonly authz: Server;
  /** The issuer of the configuration. */
  readonly issuer: string;
}

/** A client's requests, each signed on demand. */
export interface Signed {
  readonly party: SigningParty;
  make(): HttpRequest;
}

/** Registers a client. `folder` gets its public key. */
export async function addGnapClient(
  { pair, authz }: Countersign,
  alg: SigningParty['alg'],
  folder: string,
): Promise<GnapClient> {
  const key = testKey(`bench-${alg}`, alg);
  const file = join(folder, `${alg}.json`);
  await writeFile(file, JSON.stringify(key.byValue.jwk));
  const whose = ['--name', 'Bench', '--grant', 'client_credentials', '--scope', SCOPE];
  const { client_id: id } = await pair.cli('client', 'add', ...whose, '--gnap-key', file);
  return { alg, key, id: String(id), authz, issuer: pair.issuer };
}

type Asked = Pick<TestRequest, 'method' | 'json' | 'token' | 'params'>;

const signed = (
  { alg, key }: GnapClient,
  origin: string,
  path: string,
  ask: () => Asked,
): Signed => ({
  party: { alg, jwk: key.byValue.jwk, origin },
  make() {
    const asked = { url: origin + path, ...ask() };
    const { fields, content: body } = signedBy(key, asked, epochSeconds(systemClock));
    return { method: asked.method, path, fields, ...(body !== undefined && { body }) };
  },
});

const newNonce = () => ({ params: { nonce: randomId(systemRandom) } });

/** Grant requests (RFC 9635 section 2), each with a nonce. */
export function grantsOf(client: GnapClient): Signed {
  const json = { access_token: { access: [SCOPE] }, client: client.id };
  return signed(client, client.issuer, '/gnap', () => ({ method: 'POST', json, ...newNonce() }));
}

/** Requests for the document with a token (section 7.2). A request with a nonce is valid once. */
export const usesOf = (client: GnapClient, token: string, nonce: 'nonce' | 'no nonce'): Signed =>
  signed(client, ORIGIN, ES256.path, () => ({
    method: 'GET',
    token,
    ...(nonce === 'nonce' && newNonce()),
  }));

/** New signatures for every run. */
const newlySigned = ({ make }: Signed): Load => fresh(async () => make(), PROOFS);

/** The same request with another signature. */
export function forgedBy({ make }: Signed): HttpRequest {
  const request = make();
  const { signature = '' } = request.fields;
  const at = signature.indexOf(':') + 1;
  const other = signature[at] === 'A' ? 'B' : 'A';
  const field = signature.slice(0, at) + other + signature.slice(at + 1);
  return { ...request, fields: { ...request.fields, signature: field } };
}

/** Grant requests. Another signature must be refused. */
export const byGrant = (name: string, server: Server, all: Signed): HttpContender => ({
  name,
  server,
  load: newlySigned(all),
  answer: { status: 200, body: isTokenAnswer },
  forged: () => forgedBy(all),
  refusal: 400,
});

/** Whether the answer has an ES256 JWT for GNAP. */
function isTokenAnswer(text: string): boolean {
  const { access_token: token } = JSON.parse(text) as { access_token?: { value: string } };
  const { typ, alg } = decodeProtectedHeader(token?.value ?? '');
  return typ === 'gnap-at+jwt' && alg === 'ES256';
}

/** Requests with a token. Another signature must be refused. */
export const byUse = (name: string, server: Server, all: Signed): HttpContender =>
  reader(name, server, newlySigned(all), () => forgedBy(all));

/** Gets a client's token. Rejects if the request is refused. */
export async function gnapToken(client: GnapClient): Promise<string> {
  const { method, path, fields: headers, body = '' } = grantsOf(client).make();
  const answer = await fetch(client.authz.url + path, { method, headers, body });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${text}`);
  return (JSON.parse(text) as { access_token: { value: string } }).access_token.value;
}

/** Starts a process that only verifies such signatures. `folder` gets its log. */
export async function byVerifier(
  by: VerifierName,
  all: Signed,
  folder: string,
): Promise<BatchContender> {
  const server = await startBareVerifier({ by, party: all.party }, folder);
  return { name: `${by} alone`, server, load: newlySigned(all), forged: () => forgedBy(all) };
}
