import { expect, test } from '@jest/globals';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { forgedBy, type GnapClient, grantsOf, usesOf } from './gnap-contenders.ts';
import { VERIFIERS, type VerifierName } from './verifiers.ts';

const NAMES = Object.keys(VERIFIERS) as VerifierName[];
const SERVER = { url: '', pids: [], [Symbol.asyncDispose]: async () => {} };

function clientWith(alg: GnapClient['alg']): GnapClient {
  return { alg, key: testKey('k', alg), id: 'gnap-1', authz: SERVER, issuer: 'https://as.example' };
}

test.each(NAMES.flatMap((by) => [[by, 'ES256'] as const, [by, 'Ed25519'] as const]))(
  '%s verifies %s signatures of grant requests and of uses, and refuses forged signatures',
  async (by, alg) => {
    const client = clientWith(alg);
    for (const all of [
      grantsOf(client),
      usesOf(client, 'token', 'nonce'),
      usesOf(client, 'token', 'no nonce'),
    ]) {
      const verifier = VERIFIERS[by](all.party);
      expect(await verifier([all.make(), forgedBy(all), all.make()])()).toBe(2);
      expect(await verifier([{ ...all.make(), method: 'PUT' }])()).toBe(0);
    }
  },
);

test('each grant request has its own nonce', () => {
  const { make } = grantsOf(clientWith('Ed25519'));
  const nonces = [make(), make()].map(
    ({ fields }) => /;nonce="([^"]+)"/.exec(fields['signature-input'] ?? '')?.[1],
  );
  expect(new Set(nonces).size).toBe(2);
  expect(nonces).not.toContain(undefined);
});
