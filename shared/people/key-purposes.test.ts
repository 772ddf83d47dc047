import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { someClient } from '#shared/stores/contract/samples.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { testPeople } from './directory.fixture.ts';
import { addPublicKey, isOfClient, keyInDirectory, MOST_KEYS } from './key-purposes.ts';
import { readPublicKey } from './public-key.ts';

const owner = { kind: 'application', id: 'App' } as const;

function newKey() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }) };
  const kept = readPublicKey(Buffer.from(JSON.stringify(jwk)), 'Concealed');
  const record: PublicKeyRecord = { ...kept, scheme: 'Concealed', owner, name: 'x', created_at: 1 };
  return { jwk, record };
}

test('RFC 9729 section 8: a key of a client is refused, however its JWK is written', async () => {
  const { stores } = await testPeople();
  const [{ jwk, record }, other] = [newKey(), newKey()];
  const padded = { ...jwk, x: `AAAA${jwk['x']}`, kid: '1', alg: 'ES256' };
  await stores.clients.add(someClient('by a secret'));
  await stores.clients.add({ ...someClient('a'), jwks: { keys: [other.jwk, padded] } });
  await stores.clients.add({ ...someClient('b'), jwks: { keys: [{ kty: 'odd' }] } });
  expect(await isOfClient(stores.clients, other.record.id)).toBe(true);
  expect(await isOfClient(stores.clients, newKey().record.id)).toBe(false);
  expect(await addPublicKey(stores, record)).toBe('of a client');
  expect(await stores.publicKeys.get(record.id)).toBeUndefined();
  await stores.clients.remove('a');
  expect(await addPublicKey(stores, record)).toBe('added');
});

test('a known key is refused for every scheme, and a key over the limit is refused', async () => {
  const { stores } = await testPeople();
  const { record } = newKey();
  expect(await addPublicKey(stores, record)).toBe('added');
  const another = { ...record, scheme: 'HOBA', owner: { kind: 'person', id: 'x' } } as const;
  expect(await addPublicKey(stores, another)).toBe('taken');
  for (let n = 1; n < MOST_KEYS; n += 1) {
    expect(await addPublicKey(stores, newKey().record)).toBe('added');
  }
  expect(await addPublicKey(stores, newKey().record)).toBe('full');
});

test('a JWK is found by its key only, until the key is removed', async () => {
  const { stores } = await testPeople();
  const [{ jwk, record }, { jwk: unknown }] = [newKey(), newKey()];
  await addPublicKey(stores, record);
  expect(await keyInDirectory(stores, { ...jwk, kid: 'x' })).toEqual(record);
  for (const none of [unknown, {}, { kty: 'RSA', n: '', e: '' }]) {
    expect(await keyInDirectory(stores, none)).toBeUndefined();
  }
  await stores.publicKeys.remove(record.id);
  expect(await keyInDirectory(stores, jwk)).toBeUndefined();
});
