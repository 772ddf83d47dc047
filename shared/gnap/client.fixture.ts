import { hash, type KeyObject } from 'node:crypto';
import type { BareItem, Params } from '#shared/http/structured-fields.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { GENERATE } from '#shared/jose/jws.fixture.ts';
import type { Identifier } from '#shared/signatures/component.ts';
import type { SignedRequest } from '#shared/signatures/message.ts';
import { signatureFields } from '#shared/signatures/signed-request.ts';

type Alg = JwsAlgorithm['alg'];

/** A key of a GNAP client, with its public part by value. */
export interface TestKey {
  readonly alg: Alg;
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly byValue: { readonly proof: unknown; readonly jwk: Readonly<Record<string, unknown>> };
}

const GENERATORS = { ...GENERATE, Ed25519: GENERATE.EdDSA, PS256: GENERATE.RS256 };

export function testKey(
  kid = 'k1',
  alg: keyof typeof GENERATORS = 'Ed25519',
  proof: unknown = 'httpsig',
): TestKey {
  const { publicKey, privateKey } = GENERATORS[alg]();
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid, alg };
  return { alg, kid, privateKey, byValue: { proof, jwk } };
}

/** A request of a test. All members except the first two default to the values of a right request. */
export interface TestRequest {
  readonly method: string;
  /** The URL as the server knows it; the server may listen elsewhere. */
  readonly url: string;
  readonly json?: unknown;
  readonly token?: string;
  /** The scheme of the token. */
  readonly scheme?: string;
  /** Components, without quotes. */
  readonly covered?: readonly string[];
  /** Parameters with other values than usual, or undefined to omit one. */
  readonly params?: Readonly<Record<string, string | number | undefined>>;
  readonly fields?: Readonly<Record<string, string>>;
  /** The new key, which signs a rotation, too. */
  readonly next?: TestKey;
  /** The nonce of the new key's signature, if it is a different one. */
  readonly nextNonce?: string;
}

export interface SignedFields {
  readonly fields: Readonly<Record<string, string>>;
  readonly content: string | undefined;
}

const item = (value: string | number): BareItem =>
  typeof value === 'number' ? { type: 'integer', value } : { type: 'string', value };

/** Returns the fields and the content of a request that a key has signed. `now`: seconds. */
export function signedBy(key: TestKey, asked: TestRequest, now: number): SignedFields {
  const { method, url, json, token, scheme = 'GNAP', next, nextNonce } = asked;
  const content = json === undefined ? undefined : JSON.stringify(json);
  const own: Record<string, string> = {
    ...(content !== undefined && {
      'content-type': 'application/json',
      'content-digest': `sha-256=:${hash('sha256', content, 'base64')}:`,
    }),
    ...(token !== undefined && { authorization: `${scheme} ${token}` }),
    ...asked.fields,
  };
  const { pathname, search } = new URL(url);
  const message = (fields: Readonly<Record<string, string>>): SignedRequest => ({
    method,
    targetUri: url,
    requestTarget: pathname + search,
    lines: (name) => [fields[name] ?? []].flat(),
  });
  const covered = asked.covered ?? [
    '@method',
    '@target-uri',
    ...Object.keys(own).filter((name) => name !== 'content-type'),
  ];
  const identifiers = covered.map((value): Identifier => ({
    type: 'string',
    value,
    params: new Map(),
  }));
  const sign = (
    by: TestKey,
    label: string,
    tag: string,
    more: readonly Identifier[],
    given = own,
    nonce = asked.params?.['nonce'],
  ) => {
    const params = { created: now, keyid: by.kid, tag, ...asked.params, nonce };
    const entries = Object.entries(params).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, item(value)] as const],
    );
    return signatureFields(message(given), {
      label,
      identifiers: [...identifiers, ...more],
      params: new Map(entries),
      alg: by.alg,
      key: by.privateKey,
    });
  };
  const first = sign(key, 'sig1', 'gnap', []);
  const one = { ...own, 'signature-input': first['Signature-Input'], signature: first.Signature };
  if (next === undefined) return { fields: one, content };
  const params: Params = new Map([['key', { type: 'string', value: 'sig1' }]]);
  const more = ['signature', 'signature-input'].map((value): Identifier => ({
    type: 'string',
    value,
    params,
  }));
  const second = sign(next, 'sig2', 'gnap-rotate', more, one, nextNonce);
  return {
    fields: {
      ...own,
      'signature-input': `${one['signature-input']}, ${second['Signature-Input']}`,
      signature: `${one.signature}, ${second.Signature}`,
    },
    content,
  };
}
