import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { clientCredentials } from './client-credentials.ts';
import {
  type Answers,
  endless,
  json,
  readableLog,
  startIssuer,
  trusting,
  WRONG,
} from './issuer.fixture.ts';

const RESOURCE = 'https://issuer.example/private-token/verify';

const bearer = (access_token: string, expires_in = 600) => ({
  access_token,
  token_type: 'Bearer',
  expires_in,
});

/** A token endpoint that issues `t1`, `t2` and so on. */
function numbered(expiresIn?: number): Answers {
  let given = 0;
  return (response, asked) => json(bearer(`t${(given += 1)}`, expiresIn))(response, asked);
}

async function setup(answers: Answers = numbered(), milliseconds?: number) {
  const clock = new ManualClock();
  const server = await startIssuer(answers);
  const { log, lines } = readableLog();
  const { token } = clientCredentials({
    url: `${server.origin}/token`,
    clientId: 'resource-server',
    secret: 'a-secret',
    resource: RESOURCE,
    scope: 'private-token:verify',
    send: trusting(milliseconds),
    clock,
    log,
  });
  return {
    token,
    clock,
    server,
    lines,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe('RFC 6749 section 4.4: an access token by client credentials', () => {
  test("section 2.3.1, RFC 8707 section 2.2: a token request has the client's credentials and the resource", async () => {
    await using client = await setup();
    expect(await client.token()).toBe('t1');
    const [asked] = client.server.asked;
    expect(asked).toMatchObject({
      method: 'POST',
      url: '/token',
      headers: {
        authorization: `Basic ${btoa('resource-server:a-secret')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    expect(Object.fromEntries(new URLSearchParams(asked?.content.toString()))).toEqual({
      grant_type: 'client_credentials',
      resource: RESOURCE,
      scope: 'private-token:verify',
    });
  });

  test('a refused token is not returned again, even if there is no other token', async () => {
    const answers = { now: numbered() };
    await using client = await setup((response, asked) => answers.now(response, asked));
    const refused = await client.token();
    answers.now = WRONG['says 404'];
    await expect(client.token(refused)).rejects.toThrow(KeysUnavailable);
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
  });

  test('fifty concurrent callers share one token request, and later callers its token', async () => {
    await using client = await setup();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => client.token()));
    expect(new Set(tokens)).toEqual(new Set(['t1']));
    expect(await client.token()).toBe('t1');
    expect(client.server.asked).toHaveLength(1);
  });

  test.each([
    [600, 570],
    [40, 20],
    [10, 5],
  ])('a token that expires in %i s is used for %i s', async (life, used) => {
    await using client = await setup(numbered(life));
    expect(await client.token()).toBe('t1');
    client.clock.advance(used - 1);
    expect(await client.token()).toBe('t1');
    client.clock.advance(1);
    expect(await client.token()).toBe('t2');
  });

  test('a clock that is set back is treated as if the token had expired', async () => {
    await using client = await setup();
    await client.token();
    client.clock.advance(-1);
    expect(await client.token()).toBe('t2');
  });

  test('a refused token is renewed once, even if fifty callers report it', async () => {
    await using client = await setup();
    await client.token();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => client.token('t1')));
    expect(new Set(tokens)).toEqual(new Set(['t2']));
    expect(await client.token('t1')).toBe('t2');
    expect(await client.token()).toBe('t2');
    expect(client.server.asked).toHaveLength(2);
  });

  test('if the new token is refused, too, the client requests another only a second later', async () => {
    await using client = await setup();
    await client.token();
    expect(await client.token('t1')).toBe('t2');
    client.clock.advance(0.999);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => client.token('t2')));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ reason: { name: 'KeysUnavailable', retryAfter: 1 } });
    }
    expect(await client.token()).toBe('t2');
    expect(client.server.asked).toHaveLength(2);
    client.clock.advance(0.001);
    expect(await client.token('t2')).toBe('t3');
  });
});

describe('failures of the token endpoint', () => {
  test.each(Object.entries(WRONG))(
    'a token endpoint that %s is unavailable, for all waiting callers',
    async (_, no) => {
      await using client = await setup(no);
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => client.token()));
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ reason: { name: 'KeysUnavailable', retryAfter: 1 } });
      }
      expect(client.server.asked).toHaveLength(1);
      expect(client.lines).toHaveLength(1);
    },
  );

  test('a failed token request is repeated after a second, and not before', async () => {
    await using client = await setup(WRONG['says 500']);
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
    client.server.answers = numbered();
    client.clock.advance(0.999);
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
    expect(client.server.asked).toHaveLength(1);
    client.clock.advance(0.001);
    expect(await client.token()).toBe('t1');
  });

  test('RFC 6749 section 5.2: an error response is not a token, and the log has no secret', async () => {
    await using client = await setup(json({ error: 'invalid_client', ...bearer('t') }, 401));
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
    expect(client.lines).toMatchObject([{ event: 'private-token.access-token' }]);
    expect(JSON.stringify(client.lines)).not.toMatch(/a-secret|Basic|YS1zZWNyZXQ/);
  });

  test.each<[string, Answers]>([
    ['has no end', endless('application/json').answers],
    ['is elsewhere', (response) => void response.writeHead(307, { location: '/token2' }).end()],
  ])('an answer of the token endpoint that %s is an error', async (_what, answers) => {
    await using client = await setup(answers);
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
    expect(client.server.asked).toHaveLength(1);
  });

  test('a missing answer of the token endpoint ends in a timeout', async () => {
    await using client = await setup(() => {}, 100);
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
  });

  test.each([
    { ...bearer('t'), token_type: 'DPoP' },
    { ...bearer('t'), token_type: undefined },
    { ...bearer('t'), expires_in: undefined },
    { ...bearer('t'), expires_in: '600' },
    bearer('t', 0),
    bearer('t', -1),
    bearer(''),
    bearer('a b'),
    bearer('a\r\nX-Evil: 1'),
    { ...bearer('t'), access_token: 7 },
  ])('RFC 6749 section 5.1: %j is not a token response', async (document) => {
    await using client = await setup(json(document));
    await expect(client.token()).rejects.toThrow(KeysUnavailable);
  });

  test('any JSON of the token endpoint is read as a token or as unavailable', async () => {
    await using client = await setup();
    const part = fc.oneof(fc.string(), fc.jsonValue());
    const document = fc.oneof(
      fc.jsonValue(),
      fc.record({ access_token: part, token_type: fc.constant('bearer'), expires_in: part }),
    );
    await fc.assert(
      fc.asyncProperty(document, async (value) => {
        client.server.answers = json(value);
        client.clock.advance(86_400);
        const outcome = await client.token().catch((error: unknown) => error);
        if (typeof outcome !== 'string') expect(outcome).toBeInstanceOf(KeysUnavailable);
        else expect(outcome).toMatch(/^[!-~]+$/);
      }),
    );
  });
});
