import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { errors as joseErrors } from 'jose';
import { errors } from 'oidc-provider';
import { BadDocument, NoDocument } from '#shared/client-documents/document.ts';
import { said } from '#shared/refusals/operations.ts';
import { causeOf, CAUSES } from './engine-causes.ts';
import { MissingChallenge } from './errors.ts';

const folder = dirname(fileURLToPath(import.meta.resolve('oidc-provider')));
const source = globSync('**/*.js', { cwd: folder })
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n')
  .replaceAll(String.raw`\'`, '’');

/** Messages that `single-use.ts` gives to errors of the engine. */
const OURS = ['already used'];

/** The values that the engine inserts into its messages. */
const LABELS = ['authorization code', 'device code', 'refresh token'];
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';

test('after an upgrade of oidc-provider that changes messages, this test fails', () => {
  const isThere = (words: string) =>
    [words, ...LABELS.map((label) => words.replace(label, '${label}'))]
      .concat(words.replace(DEVICE, '${grantType}'))
      .some((text) => source.includes(`'${text}'`) || source.includes(`\`${text}\``));
  const words = Object.values(CAUSES)
    .flatMap((causes) => Object.keys(causes))
    .map((text) => text.replaceAll("'", '’'));
  expect(words.filter((text) => !isThere(text))).toEqual(OURS);
});

test('all errors of some classes have one cause, whatever their message', () => {
  expect(causeOf(new errors.InvalidRedirectUri())).toBe('unregistered-uri');
  expect(causeOf(new errors.InvalidDpopProof('other words'))).toBe('bad-proof');
  expect(causeOf(new MissingChallenge('other words'))).toBe('no-challenge');
  for (const [Unusable, cause] of [
    [BadDocument, 'bad-document'],
    [NoDocument, 'no-document'],
  ] as const) {
    const refusal = new errors.InvalidClient('other words');
    refusal.cause = new Unusable(said('document-object'));
    expect(causeOf(refusal)).toBe(cause);
  }
  for (const Unsigned of [
    joseErrors.JWSSignatureVerificationFailed,
    joseErrors.JWKSNoMatchingKey,
  ]) {
    const refusal = new errors.InvalidClientAuth({ cause: new Unsigned() });
    expect(causeOf(refusal)).toBe('assertion-key');
  }
  expect(causeOf(new errors.InvalidGrant('other words'))).toBe('other');
  expect(causeOf(new errors.InvalidTarget('client not found'))).toBe('other');
});

/** Messages about grants and clients that have no cause of their own, and only go to the log. */
const OTHER = [
  '${entityLabel} invalid (referenced account not found)',
  'accountId mismatch',
  'alg mismatch',
  'aud (JWT audience) must be provided in the client_assertion JWT',
  'certificate subject value does not match the registered one',
  'client certificate was not provided',
  'client certificate was not verified',
  'expiration must be specified in the client_assertion JWT',
  'failed x5t#S256 verification',
  'invalid secret provided',
  'invalid tx_code provided',
  'iss (JWT issuer) must be provided in the client_assertion JWT',
  'iss (JWT issuer) must be the client_id',
  'list of audience (aud) must include the endpoint url, issuer identifier or token endpoint url',
  'mutual TLS client certificate not provided',
  'oauth-client-attestation instance public key mismatch',
  'pre-authorized code is expired',
  'sub (JWT subject) must be provided in the OAuth-Client-Attestation JWT',
  'sub (JWT subject) must be provided in the client_assertion JWT',
  'the provided authentication mechanism does not match the registered client authentication method',
  'unique jti (JWT ID) must be provided in the client_assertion JWT',
  'unregistered client certificate provided',
];

const { InvalidGrant, InvalidClientAuth } = errors;
const CLASSES = { InvalidGrant, InvalidClientAuth };

test("no code depends on the engine's other messages about grants and clients", () => {
  const thrown = [
    ...source.matchAll(/new (InvalidGrant|InvalidClientAuth)\((?:'([^']+)'|`([^`]+)`)/g),
  ].map(([, name, text, template]) => [name, text ?? template ?? ''] as const);
  const others = thrown.filter(([name, text]) =>
    LABELS.every((label) => {
      const words = text.replace(/\$\{\w+\}/, label);
      return causeOf(new CLASSES[name as keyof typeof CLASSES](words)) === 'other';
    }),
  );
  expect([...new Set(others.map(([, text]) => text))].toSorted()).toEqual(OTHER);
});
