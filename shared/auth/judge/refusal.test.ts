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

describe('RFC 9457: what a client is told', () => {
  test.each([400, 401, 403, 407, 413, 421, 429, 503])('%i, in words of its own', (status) => {
    const answer = refusal(
      { kind: 'answer', status, fields: { 'X-N': '1' }, reason: 'secret' },
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
  });

  /** The detail of an answer to a request in clear text. */
  async function detailOf(one: ProtectionSpace, request: AuthRequest): Promise<unknown[]> {
    const outcome = await judge(one, request);
    if (outcome.kind !== 'answer') throw new Error(outcome.kind);
    const { detail } = JSON.parse(refusal(outcome, {}).body ?? '') as { detail: unknown };
    return [outcome.status, detail, outcome.fields['Retry-After']];
  }
  // Of a scheme that is not asked to look at anything.
  const unused = {} as Parameters<typeof apiKey>[0] &
    Parameters<typeof basic>[0] &
    Parameters<typeof negotiate>[0];
  const inClear = { ...requestOf(), confidential: false };

  test.each([
    [apiKey({ ...unused, field: 'X-Key' }), 403, 'A valid API key is needed in the field X-Key.'],
    [basic(unused), 403, 'Basic is not taken in clear text: use https.'],
    [negotiate({ ...unused, gss: undefined }), 503, 'Negotiate is not set up on this server.'],
  ])('what is missing where nothing can be asked for: %#', async (scheme, status, detail) => {
    expect(await detailOf(spaceOf([scheme]), inClear)).toEqual([status, detail, undefined]);
  });

  test('what is missing: a scope, or a page of ours', async () => {
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

  test('what is hidden says nothing of what is missing', async () => {
    const hidden = spaceOf([apiKey({ ...unused, field: 'X-Key' })], { hide: 'forbidden' });
    expect(await detailOf(hidden, inClear)).toEqual([
      404,
      'There is nothing at this address.',
      undefined,
    ]);
  });

  test('what is hidden: as of what is missing', () => {
    const answer = refusal({ kind: 'answer', status: 404, fields: {}, reason: 'lacks x' }, {});
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({
      detail: 'There is nothing at this address.',
    });
  });
});
