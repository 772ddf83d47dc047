import { expect } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { argon2Once } from '#shared/people/argon2.fixture.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import { digestVerifier } from '#shared/auth/schemes/digest/verifier.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES, startResourceServer } from './resource-server.fixture.ts';

/** The issuer and the resource of each mode. Origins on loopback mean development. */
export const MODES = [
  ['development', { issuer: 'http://localhost:3000', resource: 'http://localhost:3001' }],
  ['production', { issuer: 'https://as.example', resource: 'https://rs.example' }],
] as const;

type Origins = (typeof MODES)[number][1];
type Fields = Readonly<Record<string, string>>;

/** The password of alice. */
export const PASSWORD = 'correct horse battery';

/** Starts a resource server in one of the modes, with a space for each kind of refusal. */
export async function startRefusing(origins: Origins) {
  const { issuer, resource } = origins;
  const development = resource === MODES[0][1].resource;
  const documents = `${resource}/documents/`;
  const state: { down?: string } = {};
  const scoped = (name: string, more: object = {}) => ({
    url: `${resource}/${name}/`,
    realm: name,
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: [`${name}:read`], unsafe: [`${name}:write`] },
    ...more,
  });
  const rs = await startResourceServer(
    {
      ...origins,
      spaces: [
        scoped('documents', { cors: { origins: [PAGES] } }),
        scoped('nonce', { nonce: true }),
        scoped('forbidden', { hide: 'forbidden' }),
        { ...scoped('secret', { schemes: ['Concealed'], scopes: {} }), hide: 'everything' },
        scoped('key', { schemes: ['Bearer', 'Concealed'], hide: 'nothing' }),
        { url: `${resource}/dav/`, realm: 'dav', schemes: ['Digest'] },
        { url: `${resource}/basic/`, realm: 'basic', schemes: ['Basic'] },
        { url: `${resource}/api/`, realm: 'api', schemes: ['API-Key'] },
        { url: `${resource}/other/`, realm: 'other', schemes: ['API-Key'] },
      ],
    },
    (stores) => ({
      ...stores,
      ping: async () => {
        if (state.down !== undefined) throw new StoreUnavailable(state.down);
      },
    }),
  );
  const passwords = createPasswords(argon2Once);
  const realms = [{ realm: 'dav', kinds: digestVerifier.kinds }];
  const { stores, clock } = rs;
  const store = { stores, clock, longestLife: 605, passwords, random: systemRandom, realms };
  await addPerson(store, { name: 'alice', password: PASSWORD });

  function lineOf({ headers }: Reply): Record<string, unknown> {
    const id = String(headers['x-request-id']);
    const line = rs.lines.find((one) => one.includes('"request"') && one.includes(`"${id}"`));
    return JSON.parse(line ?? '{}') as Record<string, unknown>;
  }

  return {
    rs,
    /** Makes `ping` of the store fail with this message. */
    state,

    token: (claims: object = {}) =>
      rs.token('documents:read', { iss: issuer, aud: documents, ...claims }),

    send: (path: string, headers: Fields = {}, method = 'GET') =>
      rs.ask(method, path, { headers: { 'X-Forwarded-Proto': 'https', ...headers } }),

    lineOf,

    /** Checks that the log has the reason, and that the answer has it only in development. */
    expectTold(reply: Reply, status: number, reason: string | RegExp): void {
      const expected: unknown = typeof reason === 'string' ? reason : expect.stringMatching(reason);
      expect(lineOf(reply)).toMatchObject({ status, reason: expected });
      const { detail, ...problem } = JSON.parse(reply.text) as Record<string, unknown>;
      const usual = { title: expect.any(String), status };
      expect(problem).toEqual(development ? { reason: expected, ...usual } : usual);
      expect(detail).toMatch(
        /^(?:Credentials are missing or not valid|The credentials are|A valid API key)/,
      );
    },

    [Symbol.asyncDispose]: () => rs[Symbol.asyncDispose](),
  };
}

export type Refusing = Awaited<ReturnType<typeof startRefusing>>;
