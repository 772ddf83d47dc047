import { hash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { PersonAtPages } from '../../interop/oauth/person-at-pages.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { CALLBACK, CODE_FLOW } from '../../pair/people-client.ts';

const BEARER_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Claims or members of a header that replace the usual ones; undefined leaves one out. */
type Claims = Readonly<Record<string, unknown>>;

/** Parameters that replace the usual ones; undefined leaves one out. */
export type Changes = Readonly<Record<string, string | undefined>>;

/** A key pair. `jwk`: the public key. */
export interface Key {
  readonly alg: string;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export async function newKey(alg = 'ES256'): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, jwk: await exportJWK(publicKey), privateKey };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A signed JWT that a module changes. */
export interface Signed {
  readonly claims?: Claims;
  readonly header?: Claims;
  /** Another key than the usual one. */
  readonly key?: Key;
}

/** An authorization request: the parameters, and the verifier of PKCE. */
export interface Request {
  readonly parameters: Readonly<Record<string, string>>;
  readonly verifier: string;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

const texts = (all: Changes): Record<string, string> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** The status and the error of an answer. */
export const refusal = ({ status, body }: Answer): readonly [number, unknown] => [
  status,
  body['error'],
];

/** The servers, the person who signs in, and the seconds by which their clocks are ahead of the clock of this process. */
export interface Place {
  readonly pair: Pair;
  readonly person: Person;
  readonly clock: { ahead: number };
}

/** A client as the conformance suite plays it: private_key_jwt, PAR and DPoP, each step by itself. */
export class FapiClient {
  readonly pair: Pair;
  readonly id: string;
  /** The key of the assertions. */
  readonly key: Key;
  /** The key of the DPoP proofs. */
  readonly bound: Key;
  readonly #person: Person;
  readonly #clock: Place['clock'];

  constructor({ pair, person, clock }: Place, id: string, keys: Pick<FapiClient, 'key' | 'bound'>) {
    this.pair = pair;
    this.id = id;
    this.key = keys.key;
    this.bound = keys.bound;
    this.#person = person;
    this.#clock = clock;
  }

  now(): number {
    return Math.floor(Date.now() / 1000) + this.#clock.ahead;
  }

  /** Signs the assertion of the client (RFC 7523 section 3). */
  async assertion({ claims = {}, header = {}, key = this.key }: Signed = {}): Promise<string> {
    const usual = { iss: this.id, sub: this.id, aud: this.pair.issuer, jti: randomUUID() };
    const times = { iat: this.now(), exp: this.now() + 60 };
    return new SignJWT({ ...usual, ...times, ...claims })
      .setProtectedHeader({ alg: key.alg, ...header })
      .sign(key.privateKey);
  }

  /** Makes a DPoP proof for POST at a path of the issuer, or for another request (RFC 9449 section 4.2). */
  async proof(
    path: string,
    { claims = {}, header = {}, key = this.bound }: Signed = {},
  ): Promise<string> {
    const usual = {
      htm: 'POST',
      htu: `${this.pair.issuer}${path}`,
      jti: randomUUID(),
      iat: this.now(),
    };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: key.alg, jwk: key.jwk, ...header })
      .sign(key.privateKey);
  }

  /** Sends a form with an assertion, or with `assertion`, and with these fields. */
  async post(
    path: string,
    form: Changes,
    { assertion, dpop }: { readonly assertion?: string | undefined; readonly dpop?: string } = {},
  ): Promise<Answer> {
    const client_assertion = assertion ?? (await this.assertion());
    const usual = { client_id: this.id, client_assertion, client_assertion_type: BEARER_ASSERTION };
    const response = await fetch(`${this.pair.issuer}${path}`, {
      method: 'POST',
      headers: dpop === undefined ? {} : { DPoP: dpop },
      body: new URLSearchParams(texts({ ...usual, ...form })),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body };
  }

  /** Returns a new authorization request. */
  request(changes: Changes = {}): Request {
    const verifier = randomUUID() + randomUUID();
    const usual = {
      redirect_uri: CALLBACK,
      scope: 'openid documents:read',
      response_type: 'code',
      state: randomUUID(),
      nonce: randomUUID(),
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    };
    return { parameters: texts({ ...usual, ...changes }), verifier };
  }

  /** Pushes a request (RFC 9126 section 2.1). */
  push(
    { parameters }: Request,
    more: Parameters<FapiClient['post']>[2] & { readonly form?: Changes } = {},
  ): Promise<Answer> {
    return this.post('/request', { ...parameters, ...more.form }, more);
  }

  /** Returns the address of the authorization endpoint for a pushed request; throws if it was refused. */
  async pushed(request: Request, more: Parameters<FapiClient['push']>[1] = {}): Promise<URL> {
    const { status, body } = await this.push(request, more);
    if (status !== 201) throw new Error(`pushed: ${status} ${JSON.stringify(body)}`);
    return this.address({ request_uri: String(body['request_uri']) });
  }

  /** Returns an address of the authorization endpoint. */
  address(parameters: Changes): URL {
    const query = new URLSearchParams(texts({ client_id: this.id, ...parameters }));
    return new URL(`${this.pair.issuer}/auth?${query.toString()}`);
  }

  /** Resolves to the answer that a browser brings to the client, after the person has signed in and decided. */
  async answer(url: URL, decision?: 'allow' | 'deny'): Promise<URLSearchParams> {
    const person = new PersonAtPages(this.pair, this.#person);
    const { searchParams } = await person.answer(url, decision);
    return searchParams;
  }

  /** Opens an address that must give no code; resolves to the error of the answer, or to the status of the last page. */
  async refused(url: URL): Promise<unknown> {
    const page = await new PersonAtPages(this.pair, this.#person).open(url);
    const location = new URL(page.headers.get('location') ?? page.url, this.pair.issuer);
    if (location.searchParams.has('code')) throw new Error(`a code was given: ${location.href}`);
    return location.searchParams.get('error') ?? page.status;
  }

  /** Resolves to the code for a request; throws if there is none. */
  async code(request: Request, more: Parameters<FapiClient['push']>[1] = {}): Promise<string> {
    const answer = await this.answer(await this.pushed(request, more));
    const code = answer.get('code');
    if (code === null) throw new Error(`no code: ${answer.toString()}`);
    return code;
  }

  /** Redeems a code with a proof of the client's key, or with `dpop`. */
  async redeem(
    code: string,
    { parameters, verifier }: Request,
    more: Parameters<FapiClient['push']>[1] = {},
  ): Promise<Answer> {
    const { redirect_uri } = parameters;
    const grant = { grant_type: 'authorization_code', code, redirect_uri };
    const dpop = more.dpop ?? (await this.proof('/token'));
    return this.post(
      '/token',
      { ...grant, code_verifier: verifier, ...more.form },
      { ...more, dpop },
    );
  }

  /** Runs the whole flow. */
  async signIn(changes: Changes = {}): Promise<Tokens> {
    const request = this.request(changes);
    const { status, body } = await this.redeem(await this.code(request), request);
    if (status !== 200) throw new Error(`redeemed: ${status} ${JSON.stringify(body)}`);
    return body as unknown as Tokens;
  }

  /** Refreshes with a proof of the client's key. */
  async refresh(token: string, more: Parameters<FapiClient['push']>[1] = {}): Promise<Answer> {
    const form = { grant_type: 'refresh_token', refresh_token: token, ...more.form };
    return this.post('/token', form, { dpop: await this.proof('/token'), ...more });
  }

  /** Returns the claims of a usual proof for the documents. */
  atDocuments(token: string): Claims {
    const ath = hash('sha256', token, 'base64url');
    return { htm: 'GET', htu: this.pair.documents, ath };
  }

  /** Makes a proof for a request of the documents with this token. */
  proofToRead(token: string, changes: Signed = {}): Promise<string> {
    return this.proof('', {
      ...changes,
      claims: { ...this.atDocuments(token), ...changes.claims },
    });
  }

  /** Resolves to the status of a request for the documents. */
  async read(token: string, changes: Signed = {}, fields: Changes = {}): Promise<number> {
    const DPoP = await this.proofToRead(token, changes);
    const headers = texts({ Authorization: `DPoP ${token}`, DPoP, ...fields });
    return (await fetch(this.pair.documents, { headers })).status;
  }
}

/** The SHA-256 thumbprint of a key (RFC 7638). */
export const thumbprint = ({ jwk }: Key): Promise<string> => calculateJwkThumbprint(jwk);

/** Registers a client with a new key for its assertions. */
export async function addFapiClient(
  place: Place,
  options: readonly string[] = [],
  alg = 'ES256',
): Promise<FapiClient> {
  const [key, bound] = [await newKey(alg), await newKey()];
  const file = join(place.pair.data, `${randomUUID()}.json`);
  await writeFile(file, JSON.stringify({ keys: [key.jwk] }));
  const named = ['--name', 'Suite', '--scope', 'openid profile offline_access documents:read'];
  const proof = ['--profile', 'fapi2', '--jwks', file, ...options];
  const added = await place.pair.cli('client', 'add', ...named, ...CODE_FLOW, ...proof);
  return new FapiClient(place, String(added['client_id']), { key, bound });
}
