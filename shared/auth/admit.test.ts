import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/clock.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import type { LogFields } from '#shared/log.ts';
import { silentLog } from '#shared/log.ts';
import { systemRandom } from '#shared/random.ts';
import { logged } from '#shared/server/request-log.ts';
import { admit, refusal } from './admit.ts';
import { judge } from './judge.ts';
import { apiKey } from './schemes/api-key.ts';
import { basic } from './schemes/basic.ts';
import { negotiate } from './schemes/negotiate.ts';
import { requestOf } from './auth.fixture.ts';
import { schemeOf, spaceOf } from './judge.fixture.ts';
import type { AuthRequest, Outcome, ProtectionSpace, Scheme } from './scheme.ts';

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
      : { kind: 'refused', reason: 'wrong key' },
};
const space = spaceOf([schemeOf('One')], {
  application: key,
  granted: () => new Set(['documents:read']),
});

/** The outcome, and the line in the log. */
async function admitted(fields: readonly (readonly [string, string])[], method = 'GET') {
  let line: LogFields = {};
  let outcome: Outcome | undefined;
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const handler = logged(
    async () => {
      outcome = await admit(request, space, requestOf(fields, { method }));
    },
    {
      log: { ...silentLog, info: (_event, noted = {}) => void (line = noted) },
      clock: new ManualClock(),
      random: systemRandom,
      trusted: trustedProxies([]),
    },
  );
  await handler(request, response);
  response.emit('close');
  return { outcome, line };
}

describe('the line in the log', () => {
  test('who was let in: the scheme and the application beside', async () => {
    const { outcome, line } = await admitted([
      ['Authorization', 'One good'],
      ['X-API-Key', 'good'],
    ]);
    expect(outcome).toMatchObject({ kind: 'pass' });
    expect(line).toMatchObject({
      space: 'documents',
      verdict: 'granted',
      scheme: 'One',
      application: 'app',
    });
  });

  test('who lacks a scope: the application all the same, and the reason', async () => {
    const { outcome, line } = await admitted(
      [
        ['Authorization', 'One good'],
        ['X-API-Key', 'good'],
      ],
      'PUT',
    );
    expect(outcome).toMatchObject({ status: 403 });
    expect(line).toMatchObject({
      verdict: 'refused',
      application: 'app',
      reason: 'lacks documents:write',
    });
  });

  test('a wrong key: neither an application nor what was sent', async () => {
    const { line } = await admitted([
      ['Authorization', 'One good'],
      ['X-API-Key', 'cs_secret'],
    ]);
    expect(line).toMatchObject({ verdict: 'refused', scheme: 'Key', reason: 'wrong key' });
    expect(line['application']).toBeUndefined();
    expect(JSON.stringify(line)).not.toContain('cs_secret');
  });
});

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
    const { outcome } = await admitted([['Authorization', 'One good']], 'PUT');
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
