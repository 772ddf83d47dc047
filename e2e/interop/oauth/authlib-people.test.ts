import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { addPeopleClient, CALLBACK, CODE_FLOW } from '../../pair/people-client.ts';
import { runPerson } from './authlib/person.ts';
import { PersonAtPages } from './person-at-pages.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await startPair();
});
afterAll(async () => pair?.[Symbol.asyncDispose]());

describe("Authlib's OAuth2Session for people", () => {
  test.each(['none', 'client_secret_basic', 'client_secret_post'])(
    'RFC 7636, OpenID Connect Core 1.0 section 3.1, RFC 6749 section 6: works with %s',
    async (method) => {
      const person = await pair.addPerson(`person-${randomUUID()}`);
      const auth = method === 'none' ? ['--public'] : ['--auth', method];
      const { id, secret } = await addPeopleClient(pair, ...auth, ...CODE_FLOW);
      const asked = {
        issuer: pair.issuer,
        resource: pair.documents,
        client_id: id,
        method,
        ...(method !== 'none' && { secret }),
        redirect_uri: CALLBACK,
        scope: 'openid profile documents:read',
      };
      expect(await runPerson(asked, new PersonAtPages(pair, person))).toEqual({
        token: expect.objectContaining({
          token_type: 'Bearer',
          expires_in: 600,
          scope: 'openid profile documents:read',
        }),
        claims: expect.objectContaining({
          iss: pair.issuer,
          aud: id,
          sub: person.id,
          acr: 'urn:countersign:acr:password',
          amr: ['pwd'],
        }),
        userinfo: {
          sub: person.id,
          preferred_username: person.name,
          updated_at: expect.any(Number),
        },
        before: 200,
        rotated: true,
        after: 200,
        revoked: 401,
        again: 'invalid_grant',
        replayed: 'invalid_grant',
      });
    },
  );
});
