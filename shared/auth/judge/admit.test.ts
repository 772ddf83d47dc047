import { describe, expect, test } from '@jest/globals';
import { admit } from './admit.ts';
import { requestOf } from './auth.fixture.ts';
import { schemeOf, spaceOf } from './judge.fixture.ts';
import type { Scheme } from '../scheme.ts';

const key: Scheme = {
  name: 'Key',
  locate: (request) => {
    const rest = request.field('x-api-key');
    return rest === undefined ? undefined : { scheme: 'key', rest };
  },
  challenge: () => [],
  authenticate: ({ rest }) =>
    rest === 'good'
      ? { kind: 'granted', principal: { kind: 'application', id: 'app' } }
      : { kind: 'refused', refusal: 'other-scheme', reason: 'wrong key' },
};
const space = spaceOf([schemeOf('One')], {
  application: key,
  granted: () => new Set(['documents:read']),
});

const admitted = (fields: readonly (readonly [string, string])[], method = 'GET') =>
  admit(space, requestOf(fields, { method }));

describe('the log line', () => {
  test('the log line names the scheme and the accompanying application of an admitted request', async () => {
    const { outcome, noted } = await admitted([
      ['Authorization', 'One good'],
      ['X-API-Key', 'good'],
    ]);
    expect(outcome).toMatchObject({ kind: 'pass' });
    expect(noted).toMatchObject({
      space: 'documents',
      verdict: 'granted',
      scheme: 'One',
      application: 'app',
    });
    expect(noted).not.toHaveProperty('reason');
  });

  test('the log line has the application and the reason if a scope is missing', async () => {
    const { outcome, noted } = await admitted(
      [
        ['Authorization', 'One good'],
        ['X-API-Key', 'good'],
      ],
      'PUT',
    );
    expect(outcome).toMatchObject({ status: 403 });
    expect(noted).toMatchObject({
      verdict: 'refused',
      application: 'app',
      reason: 'lacks documents:write',
    });
  });

  test('the log line has neither an application nor the value of the key if the key is wrong', async () => {
    const { noted } = await admitted([
      ['Authorization', 'One good'],
      ['X-API-Key', 'cs_secret'],
    ]);
    expect(noted).toMatchObject({ verdict: 'refused', scheme: 'Key', reason: 'wrong key' });
    expect(noted['application']).toBeUndefined();
    expect(JSON.stringify(noted)).not.toContain('cs_secret');
  });
});

describe('RFC 9635 section 8: a scheme with structured access in its tokens', () => {
  interface Access {
    readonly type: string;
    readonly actions: readonly string[];
  }
  const scopesOf = (access: readonly Access[]) =>
    new Set(access.flatMap(({ type, actions }) => actions.map((action) => `${type}:${action}`)));
  const gnap = (access: readonly Access[]): Scheme => ({
    ...schemeOf('GNAP'),
    authenticate: () => ({
      kind: 'granted',
      principal: { kind: 'application', id: 'app', scopes: scopesOf(access) },
    }),
    insufficientScope: (scopes) => ({
      scheme: 'GNAP',
      params: { as_uri: 'https://as.example/tx', access: scopes.join(' ') },
    }),
  });
  const asked = (method: string, ...access: Access[]) =>
    admit(spaceOf([gnap(access)]), requestOf([['Authorization', 'GNAP x']], { method }));

  test("the scheme's access is mapped to the scopes of the space", async () => {
    const both = { type: 'documents', actions: ['read', 'write'] };
    expect(await asked('PUT', both)).toMatchObject({ outcome: { kind: 'pass' } });
    const { outcome } = await asked('PUT', { type: 'pictures', actions: ['write'] });
    expect(outcome).toMatchObject({ status: 403 });
  });

  test('the scheme asks for missing access in its own format', async () => {
    const { outcome } = await asked('PUT', { type: 'documents', actions: ['read'] });
    expect(outcome).toMatchObject({
      status: 403,
      fields: {
        'WWW-Authenticate': [
          'GNAP as_uri="https://as.example/tx", access="documents:write documents:read"',
        ],
      },
    });
  });
});
