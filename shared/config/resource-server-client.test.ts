import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { registration, secret } from './resource-server-client.ts';

const [MASTER, ANOTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const RESOURCE = 'https://issuer.example/private-token/verify';

test('RFC 6749 section 2.3.1: the secret is derived from the master secret, and needs no encoding', () => {
  expect(secret(MASTER)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(secret(Buffer.from(MASTER))).toBe(secret(MASTER));
  expect(secret(ANOTHER)).not.toBe(secret(MASTER));
});

test('the client may get tokens for token verification only', () => {
  const clock = new ManualClock();
  expect(registration(RESOURCE, MASTER, clock)).toEqual({
    client_id: 'resource-server',
    client_name: 'Resource server',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash: createHash('sha256').update(secret(MASTER)).digest('base64url'),
    scope: 'private-token:verify',
    resources: [RESOURCE],
    created_at: clock.now(),
  });
  expect(JSON.stringify(registration(RESOURCE, MASTER, clock))).not.toContain(secret(MASTER));
});
