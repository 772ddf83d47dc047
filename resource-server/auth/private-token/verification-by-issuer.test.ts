/** @slow */
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ALONE } from '#shared/base/line.ts';
import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import {
  type Answers,
  endless,
  json,
  readableLog,
  startIssuer,
  tokenFor,
  trusting,
  WRONG,
} from './issuer.fixture.ts';
import { verificationByIssuer } from './verification-by-issuer.ts';

const pair = generateVoprfKey();
const key = { ...pair, until: undefined };
const TOKEN = tokenFor(key);

async function setup(answers: Answers, milliseconds?: number) {
  const issuer = await startIssuer(answers);
  const { log, lines } = readableLog();
  const refused: (string | undefined)[] = [];
  const url = `${issuer.origin}/private-token/verify`;
  const verifyAny = verificationByIssuer({
    url,
    accessTokens: {
      async token(one) {
        refused.push(one);
        return one === undefined ? 'first' : 'second';
      },
    },
    send: trusting(milliseconds),
    log,
  });
  const verify = async (token = TOKEN) => verifyAny(token, key, ALONE);
  return {
    verify,
    issuer,
    refused,
    lines,
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

const says = (valid: boolean) => json({ valid });
const unavailable = (retryAfter = 1) => ({ name: 'KeysUnavailable', retryAfter });

describe('RFC 9578 section 5.4: a VOPRF token is verified by its issuer', () => {
  test('a VOPRF token is sent to its issuer unchanged, with an access token', async () => {
    await using asking = await setup(says(true));
    expect(await asking.verify()).toBe(true);
    expect(asking.issuer.asked).toHaveLength(1);
    const [asked] = asking.issuer.asked;
    expect(asked).toMatchObject({
      method: 'POST',
      url: '/private-token/verify',
      headers: { authorization: 'Bearer first', 'content-type': 'application/octet-stream' },
    });
    expect(asked?.content.equals(Buffer.concat([TOKEN.input, TOKEN.authenticator]))).toBe(true);
  });

  test('a VOPRF token is refused if the issuer says no', async () => {
    await using asking = await setup(says(false));
    expect(await asking.verify()).toBe(false);
    expect(asking.lines).toEqual([]);
  });

  test('a VOPRF token is verified again each time, even if it was valid', async () => {
    await using asking = await setup(says(true));
    await asking.verify();
    asking.issuer.answers = says(false);
    expect(await asking.verify()).toBe(false);
  });
});

describe('RFC 6750 section 3.1: the access token is refused', () => {
  const unless =
    (accessToken: string): Answers =>
    (response, asked) => {
      const good = asked.headers.authorization === `Bearer ${accessToken}`;
      (good ? says(true) : json({ valid: true }, 401))(response, asked);
    };

  test('if the issuer refuses the access token once, another one is requested and used', async () => {
    await using asking = await setup(unless('second'));
    expect(await asking.verify()).toBe(true);
    expect(asking.refused).toEqual([undefined, 'first']);
  });

  test('if the issuer refuses the access token twice, the result is unknown', async () => {
    await using asking = await setup(unless('none'));
    await expect(asking.verify()).rejects.toMatchObject(unavailable());
    expect(asking.issuer.asked).toHaveLength(2);
  });

  test('if the issuer refuses the access token for its scope, the result is unknown without another request', async () => {
    await using asking = await setup(json({ valid: true }, 403));
    await expect(asking.verify()).rejects.toMatchObject(unavailable());
    expect(asking.issuer.asked).toHaveLength(1);
  });
});

describe('the result is unknown', () => {
  test.each([
    [429, '7', 7],
    [503, '20', 20],
    [503, '0', 1],
    [503, '999999999999', 3600],
    [503, '-5', 1],
    [503, 'Fri, 31 Dec 1999 23:59:59 GMT', 1],
    [422, '', 1],
  ])(
    'RFC 9110 section 10.2.3: the result is unknown for %i with Retry-After %j',
    async (status, value, seconds) => {
      await using asking = await setup(json({ valid: true }, status, { 'Retry-After': value }));
      await expect(asking.verify()).rejects.toMatchObject(unavailable(seconds));
    },
  );

  test.each(Object.entries(WRONG))(
    'the result is unknown if the issuer %s',
    async (_what, answers) => {
      await using asking = await setup(answers);
      await expect(asking.verify()).rejects.toMatchObject(unavailable());
      expect(asking.lines).toMatchObject([{ event: 'private-token.verification' }]);
    },
  );

  test.each<[string, Answers]>([
    ['has no end', endless('application/json').answers],
    ['is elsewhere', (response) => void response.writeHead(307, { location: '/v' }).end()],
    ['is yes with more behind it', (response) => void response.end('{"valid":true}{}')],
  ])('the result is unknown for an answer that %s', async (_what, answers) => {
    await using asking = await setup(answers);
    await expect(asking.verify()).rejects.toMatchObject(unavailable());
    expect(asking.issuer.asked).toHaveLength(1);
  });

  test.each<[string, Answers]>([
    ['does not come', () => {}],
    ['begins and does not go on', (response) => void response.write('{"valid":true')],
  ])('the result is unknown after a timeout for an answer that %s', async (_what, answers) => {
    await using asking = await setup(answers, 100);
    await expect(asking.verify()).rejects.toMatchObject(unavailable());
  });

  test.each([
    { valid: 'true' },
    { valid: 1 },
    { valid: null },
    {},
    [],
    [true],
    true,
    null,
    'valid',
  ])('the result is unknown for the content %j', async (value) => {
    await using asking = await setup(json(value));
    await expect(asking.verify()).rejects.toMatchObject(unavailable());
  });

  test('the result is unknown without an access token', async () => {
    const { log } = readableLog();
    const failing = verificationByIssuer({
      url: 'https://localhost:1/',
      accessTokens: { token: () => Promise.reject(new KeysUnavailable(9)) },
      send: trusting(),
      log,
    });
    await expect(failing(TOKEN, key, ALONE)).rejects.toMatchObject(unavailable(9));
  });

  test('only a JSON member `valid` that is true makes a token valid', async () => {
    await using asking = await setup(says(true));
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        asking.issuer.answers = json(value);
        await expect(asking.verify()).rejects.toMatchObject(unavailable());
      }),
      { numRuns: 50 },
    );
  });

  test('RFC 9576 section 4: the log has neither the token nor the access token', async () => {
    await using asking = await setup(json({ valid: 'x' }));
    for (const answers of [...Object.values(WRONG), json({ valid: 'x' })]) {
      asking.issuer.answers = answers;
      await expect(asking.verify()).rejects.toThrow(KeysUnavailable);
    }
    const lines = JSON.stringify(asking.lines);
    expect(lines).not.toMatch(/Bearer|first/);
    const { nonce, authenticator, challengeDigest, keyId } = TOKEN;
    for (const part of [nonce, authenticator, challengeDigest, keyId]) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(lines).not.toContain(part.toString(encoding).slice(0, 12));
      }
    }
  });
});
