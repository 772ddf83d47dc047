import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { Unexpected } from './fetch-text.ts';
import { createFollower } from './follower.ts';
import type { RevocationPage } from './revocation-page.ts';

const PAGE: RevocationPage = { epoch: 'e1', cursor: '7', entries: [], lease: 2 };

interface Asked {
  readonly url: string;
  readonly authorization: string | null;
  readonly form: string;
}

/** An authorization server that issues a new token at each request, and accepts a token until it is revoked. */
function setup() {
  const clock = new ManualClock();
  const asked: Asked[] = [];
  const state = {
    given: 0,
    revoked: false,
    away: false,
    token: Response.json as (body: unknown) => Response,
  };
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const authorization = new Headers(init.headers).get('authorization');
    const form = init.body instanceof URLSearchParams ? init.body.toString() : '';
    asked.push({ url: String(url), authorization, form });
    if (String(url).endsWith('/token')) {
      if (state.away) throw new TypeError('fetch failed');
      state.given += 1;
      state.revoked = false;
      return state.token({ access_token: `t${state.given}`, expires_in: 600 });
    }
    const right = /^Bearer t\d$/.test(authorization ?? '') && !state.revoked;
    return right ? Response.json(PAGE) : new Response('', { status: 401 });
  };
  const ask = createFollower({
    issuer: 'https://auth.example',
    issuerUrl: 'http://authz:3000',
    client: { id: 'a b', secret: 'c:d%' },
    fetch,
    clock,
  });
  const page = (after?: string) => ask(after, 0.5, AbortSignal.timeout(60_000));
  return { clock, asked, state, page };
}

describe('a follower of the revocations', () => {
  test("RFC 6749 sections 2.3.1 and 4.4, RFC 8707: the follower's token is only for the revocations", async () => {
    const { asked, page } = setup();
    expect(await page()).toEqual(PAGE);
    expect(await page('7')).toEqual(PAGE);
    expect(asked.map(({ url }) => url)).toEqual([
      'http://authz:3000/token',
      'http://authz:3000/revocations?wait=0.5',
      'http://authz:3000/revocations?after=7&wait=0.5',
    ]);
    expect(asked[0]?.authorization).toBe(`Basic ${btoa('a+b:c%3Ad%25')}`);
    expect(asked[0]?.form).toBe(
      'grant_type=client_credentials&scope=revocations%3Afollow&resource=https%3A%2F%2Fauth.example%2Frevocations',
    );
  });

  test('the follower fetches another token before the old one expires, and uses the old one meanwhile', async () => {
    const { asked, clock, state, page } = setup();
    await page();
    clock.advance(479);
    await page();
    expect(state.given).toBe(1);
    clock.advance(1);
    state.away = true;
    for (let count = 0; count < 3; count += 1) expect(await page()).toEqual(PAGE);
    state.away = false;
    await page();
    await page();
    expect(state.given).toBe(2);
    expect(asked.at(-1)?.authorization).toBe('Bearer t2');
  });

  test('the follower fetches another token when the old one is refused', async () => {
    const { state, page } = setup();
    await page();
    state.revoked = true;
    await expect(page('7')).rejects.toThrow(/revocations.* answered 401$/);
    expect(await page('7')).toEqual(PAGE);
    expect(state.given).toBe(2);
  });

  test.each([
    [
      Response.json({ error: 'invalid_client' }, { status: 401 }),
      /token answered 401 invalid_client/,
    ],
    [Response.json({ error: 'invalid_target' }, { status: 400 }), /answered 400 invalid_target/],
    [new Response('no', { status: 503 }), /answered 503$/],
  ])('without a token the follower reports why', async (answer, why) => {
    const { state, page } = setup();
    state.token = () => answer.clone();
    await expect(page()).rejects.toThrow(Unexpected);
    await expect(page()).rejects.toThrow(why);
  });

  test('the follower does not read an answer that is too long to its end', async () => {
    const { state, page } = setup();
    let pieces = 0;
    state.token = () =>
      new Response(
        new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(((pieces += 1), 65_536))) }),
      );
    await expect(page()).rejects.toThrow('answered with more than 1048576 bytes');
    expect(pieces).toBeLessThan(20);
  });

  test.each([null, [], {}, { access_token: 1, expires_in: 1 }, { access_token: 'x' }, 'x'])(
    'the answer %j has no token',
    async (answer) => {
      const { state, page } = setup();
      state.token = () => Response.json(answer);
      await expect(page()).rejects.toThrow('no access token');
    },
  );
});
