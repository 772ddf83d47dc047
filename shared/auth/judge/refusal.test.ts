import { describe, expect, test } from '@jest/globals';
import { admit } from './admit.ts';
import { requestOf } from './auth.fixture.ts';
import { judge } from './judge.ts';
import { schemeOf, spaceOf } from './judge.fixture.ts';
import { refusal } from './refusal.ts';
import { apiKey } from '../schemes/api-key/api-key.ts';
import { basic } from '../schemes/basic/basic.ts';
import { negotiate } from '../schemes/negotiate/negotiate.ts';
import type { AuthRequest, ProtectionSpace } from '../scheme.ts';

describe('RFC 9457: problem details for clients', () => {
  test.each([400, 401, 403, 407, 413, 421, 429, 503])(
    'a refusal with status %i has its own text',
    (status) => {
      const answer = refusal(
        {
          kind: 'answer',
          status,
          fields: { 'X-N': '1' },
          refusal: 'other-scheme',
          reason: 'secret',
        },
        {},
      );
      expect(answer).toMatchObject({
        status,
        fields: { 'X-N': '1', 'Content-Type': 'application/problem+json' },
      });
      expect(JSON.parse(answer.body ?? '')).toMatchObject({
        status,
        detail: expect.stringMatching(/^[A-Z].*\.$/),
      });
      expect(answer.body).not.toContain('secret');
    },
  );

  /** The detail of an answer to a request in clear text. */
  async function detailOf(one: ProtectionSpace, request: AuthRequest): Promise<unknown[]> {
    const outcome = await judge(one, request);
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    const { detail } = JSON.parse(refusal(outcome, {}).body ?? '') as { detail: unknown };
    return [outcome.status, detail, outcome.fields['Retry-After']];
  }
  // The parts of a scheme, which these tests never call.
  const unused = {} as Parameters<typeof apiKey>[0] &
    Parameters<typeof basic>[0] &
    Parameters<typeof negotiate>[0];
  const inClear = { ...requestOf(), confidential: false };

  test.each([
    [apiKey({ ...unused, field: 'X-Key' }), 403, 'A valid API key is needed in the field X-Key.'],
    [basic(unused), 403, 'Basic is not taken in clear text: use https.'],
    [negotiate({ ...unused, gss: undefined }), 503, 'Negotiate is not set up on this server.'],
  ])(
    'a refusal without a challenge says what the request needs: %#',
    async (scheme, status, detail) => {
      expect(await detailOf(spaceOf([scheme]), inClear)).toEqual([status, detail, undefined]);
    },
  );

  test('the detail names the missing scope, or the address of the page', async () => {
    const { outcome } = await admit(
      spaceOf([schemeOf('One')]),
      requestOf([['Authorization', 'One good']], { method: 'PUT' }),
    );
    expect(outcome).toMatchObject({ detail: 'This needs the scope documents:write.' });
    const page = requestOf(
      [
        ['Authorization', 'One good'],
        ['Origin', 'https://evil.example'],
      ],
      { method: 'PUT' },
    );
    const ambient = spaceOf([schemeOf('One', { ambient: true })]);
    expect(await detailOf(ambient, page)).toEqual([
      403,
      'One is not taken from a page of another origin.',
      undefined,
    ]);
  });

  test('a hidden refusal does not name the missing scope', async () => {
    const hidden = spaceOf([apiKey({ ...unused, field: 'X-Key' })], { hide: 'forbidden' });
    expect(await detailOf(hidden, inClear)).toEqual([
      404,
      'There is nothing at this address.',
      undefined,
    ]);
  });

  test('the reason is shown only in development, and never for a hidden space', () => {
    const outcome = {
      kind: 'answer',
      status: 401,
      fields: {},
      refusal: 'other-scheme',
      reason: 'expired',
    } as const;
    expect(refusal(outcome)).toMatchObject({ reason: 'expired' });
    expect(refusal(outcome).body).not.toContain('expired');
    expect(refusal({ ...outcome, untold: true })).not.toHaveProperty('reason');
    expect(refusal({ ...outcome, status: 404 })).not.toHaveProperty('reason');
  });

  test.each(['Concealed a', 'concealed', 'Bearer a'])(
    'RFC 9729 section 6.4: a refusal of Concealed never shows its reason: %s',
    async (line) => {
      const outcome = await judge(spaceOf([schemeOf('One')]), requestOf([['Authorization', line]]));
      expect('untold' in outcome).toBe(/^concealed/i.test(line));
    },
  );

  test('a hidden refusal looks like a missing resource', () => {
    const answer = refusal(
      { kind: 'answer', status: 404, fields: {}, refusal: 'other-scheme', reason: 'lacks x' },
      {},
    );
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({
      detail: 'There is nothing at this address.',
    });
  });
});
