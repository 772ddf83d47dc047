import { expect, test } from '@jest/globals';
import { explain } from '#shared/explain/explain.ts';
import { GNAP_TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import type { Clock } from '#shared/base/clock.ts';
import { ALONE, checksOf, LOCAL, messagesOf, startPlayground } from './playground.fixture.ts';

/** The last answer to each mistake: its status, and the server's reason. */
const REFUSALS: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  'basic password': [401, 'unknown name or wrong password'],
  'basic name': [401, 'unknown name or wrong password'],
  'basic cut': [401, 'credentials are not base64 of NAME:PASSWORD in UTF-8'],
  'digest password': [401, 'no such name, or the response is wrong'],
  'digest replayed': [401, 'nc was used before'],
  'digest target': [400, 'uri is not the request target'],
  'digest downgraded': [401, 'algorithm was not offered: use SHA-256'],
  'digest-auth-int password': [401, 'no such name, or the response is wrong'],
  'digest-auth-int changed': [401, 'no such name, or the response is wrong'],
  'digest-auth-int replayed': [401, 'nc was used before'],
  'scram-sha-256 password': [401, 'wrong proof'],
  'scram-sha-256 replayed': [401, 'unknown sid'],
  'scram-sha-256 nonce': [401, 'another nonce'],
  'mutual password': [401, 'no such name, or vkc is wrong'],
  'mutual certificate': [401, 'no such name, or vkc is wrong'],
  'mutual replayed': [401, 'nc was used before'],
  'mutual cut': [401, 'vkc'],
  'bearer expired': [401, 'access token: expired at'],
  'bearer audience': [401, 'access token: aud is another resource'],
  'bearer scope': [403, 'lacks play'],
  'bearer changed': [401, 'access token: signature is wrong'],
  'bearer unsigned': [401, 'access token: alg is not on the allow-list'],
  'dpop replayed': [401, 'DPoP proof: jti was used before'],
  'dpop key': [401, 'DPoP proof: the token is bound to another key'],
  'dpop target': [401, 'DPoP proof: htu is another URI'],
  'dpop stripped': [401, 'the field DPoP is missing'],
  // Answers do not show whether a token was spent before, which RFC 9577 does not require.
  'private-token replayed': [401, 'not valid'],
  'private-token challenge': [401, 'not valid'],
  'private-token key': [401, 'not valid'],
  'private-token forged': [401, 'not valid'],
  'private-token cut': [401, 'not valid'],
  'gnap replayed': [401, 'key proof: the signature or its nonce was used before'],
  'gnap key': [401, 'key proof: '],
  'gnap target': [401, 'key proof: '],
  'gnap expired': [401, 'key proof: '],
  'gnap stripped': [401, 'key proof: '],
  'gnap bearer': [401, 'a scheme that the space does not have'],
  'hoba replayed': [401, 'signed for once already'],
  'hoba key': [401, 'no such key, or the signature is wrong'],
  'hoba origin': [401, 'no such key, or the signature is wrong'],
  'hoba challenge': [401, 'a challenge that is not ours'],
  'hoba cut': [401, 'result is missing or malformed'],
  // The answer equals that of a missing address (RFC 9729 section 6.4).
  'concealed key': [404, ''],
  'concealed replayed': [404, ''],
  'concealed cut': [404, ''],
  'api-key mistyped': [403, 'not an API key'],
  'api-key unknown': [403, 'wrong API key'],
  'api-key twice': [400, 'once'],
  'conditions exists': [412, 'conditions'],
  'conditions lost': [412, 'conditions'],
  'conditions weak': [412, 'conditions'],
  'options here': [405, 'This address has these methods'],
  'options nowhere': [501, 'FROBNICATE'],
  'options case': [501, 'the method get'],
  'patch cut': [400, 'not JSON'],
  'patch lost': [412, 'conditions'],
  'patch test': [409, 'Operation 0 of the patch'],
  'patch type': [415, 'application/merge-patch+json'],
  'query cut': [422, 'JSONPath'],
  'query type': [415, 'application/jsonpath'],
  'query untyped': [400, 'Content-Type'],
  // Only-if-cached is 504 (RFC 9111 section 5.2.1.7).
  'cache only': [504, 'the request wants nothing else'],
  'cache gone': [404, 'This server had nothing of this address'],
  'cache anonymous': [401, 'no credentials'],
  'cache rule': [400, 'colour'],
  'query-cache type': [415, 'application/x-www-form-urlencoded'],
  'query-cache cut': [422, 'over='],
  // With no-cache the application is asked again (RFC 9111 section 5.2.1.4).
  'query-cache bypassed': [200, ''],
  'ranges beyond': [416, 'The content has 26 bytes.'],
  // Ignored ranges give the whole content (RFC 9110 sections 13.1.5 and 14.2).
  'ranges changed': [200, 'abcdefghijklmnopqrstuvwxyz'],
  'ranges malformed': [200, 'abcdefghijklmnopqrstuvwxyz'],
  'webdav-lock stripped': [423, ''],
  'webdav-lock token': [412, ''],
  'webdav-lock unlock': [409, ''],
  'webdav-lock twice': [423, ''],
  'connect password': [407, 'unknown name or wrong password'],
  'connect origin': [407, 'no credentials'],
  'connect destination': [403, 'does not connect to this destination'],
  'connect content': [400, 'CONNECT has no content'],
  'connect port': [400, 'CONNECT needs a host and a port'],
  'trace anonymous': [401, 'no credentials'],
  'trace content': [400, 'TRACE'],
  'preflight origin': [204, ''],
  'dpop bearer': [401, 'access token: bound to a key, so it needs DPoP'],
  'vapid key': [403, 'the subscription is restricted to another key than k'],
  'vapid signature': [403, 'the key in k has not signed the JWT in t'],
  'vapid audience': [403, 'aud has to be https://localhost:3443'],
  'vapid expired': [403, 'exp is past'],
  'vapid long': [403, 'exp is more than 24 hours ahead'],
  'vapid anonymous': [401, 'send Authorization: vapid t=JWT, k=KEY'],
  // A token may be used again until it expires (RFC 8292 section 2).
  'vapid replayed': [201, ''],
};

/** The reasons in lists of checks if the server's answer does not give them, or gives them in XML. */
const UNTOLD: Readonly<Record<string, string>> = {
  'private-token replayed': 'used before',
  'private-token challenge': 'for no challenge that is valid here now',
  'private-token key': 'of no key that is valid now',
  'private-token forged': 'wrong authenticator',
  'private-token cut': 'no token of a type that is taken here',
  'concealed key': 'the key is not registered',
  'concealed replayed': 'p is no signature of this connection',
  // The server ignores credentials that are not a proof.
  'concealed cut': 'no credentials',
  'webdav-lock stripped': 'It is locked: submit the token of the lock in the field If.',
  'webdav-lock token': 'It is not in the state that the conditions of the request ask for.',
  'webdav-lock unlock': 'This is no lock of this resource.',
  'webdav-lock twice': 'It is locked, or something in it is.',
  'preflight origin': 'the origin is not in cors.origins of this space',
};

/** Mistakes that are not refused but change the answer (RFC 9110 sections 13.1.5 and 14.2, RFC 9111 section 4). */
const PASSED_OVER: ReadonlySet<string> = new Set([
  'ranges changed',
  'ranges malformed',
  'query-cache bypassed',
]);

/** Mistakes that a server cannot detect. */
const UNNOTICED: ReadonlySet<string> = new Set(['vapid replayed']);

/** True if an exchange ends with a request that tidies up. */
const isTidied = (page: string) => messagesOf(page).at(-2)?.startsWith('DELETE ') === true;

const lastChecksOf = (page: string) => checksOf(page).at(isTidied(page) ? -2 : -1) ?? [];

/** Returns the answers on a page, without the answer to a request that tidies up. */
const answersOf = (page: string): readonly string[] => {
  const messages = messagesOf(page);
  const last = isTidied(page) ? messages.slice(0, -2) : messages;
  return last.filter((message) => message.startsWith('HTTP/'));
};

/** Returns what the explain page finds wrong with a message. Undefined: nothing. */
function wrongIn(message: string, clock: Clock): string | undefined {
  try {
    const checks = explain(message, clock).flatMap((one) => one.checks);
    return checks.find(({ result }) => result === 'wrong')?.reason;
  } catch (error) {
    const { message: reason } = error as Error;
    return /: it has no credentials/.test(reason) ? undefined : reason;
  }
}

test('each mistake is refused for its own reason, which pages show in development', async () => {
  await using rs = await startPlayground(LOCAL);
  const refused: Record<string, unknown> = {};
  for (const { name, mistakes, checks } of ALONE) {
    for (const mistake of Object.keys(mistakes)) {
      // The limit allows one exchange in two seconds.
      rs.clock.advance(2);
      const { text } = await rs.perform(name, `mistake=${mistake}`, { Origin: LOCAL.resource });
      expect(text).toContain(`<option value="${mistake}" selected`);
      const [before = ''] = text.split('Here the client makes its mistake:');
      for (const message of messagesOf(before)) {
        expect([name, message, wrongIn(message, rs.clock)]).toEqual([name, message, undefined]);
      }
      const last = answersOf(text).at(-1) ?? '';
      const [, content = ''] = last.split('\n\n');
      const isProblem = content.startsWith('{');
      const problem = (isProblem ? JSON.parse(content) : { detail: content }) as Record<
        string,
        string
      >;
      const { reason, detail = '' } = problem;
      refused[`${name} ${mistake}`] = [Number(last.slice(9, 12)), reason ?? detail];
      const found = lastChecksOf(text).find(({ result }) => ['wrong', 'no'].includes(result));
      if (PASSED_OVER.has(`${name} ${mistake}`)) {
        expect([mistake, found?.result]).toEqual([mistake, 'no']);
      } else if (UNNOTICED.has(`${name} ${mistake}`)) {
        expect([mistake, found]).toEqual([mistake, undefined]);
        expect(text).toContain('<strong>Accepted.');
      } else if (checks) {
        // The list of checks gives the server's reason, and the line above summarizes it.
        const wrong = lastChecksOf(text).find(({ result }) => result === 'wrong');
        const told = UNTOLD[`${name} ${mistake}`] ?? `${reason} ${detail}`;
        expect([name, mistake, told]).toEqual([
          name,
          mistake,
          expect.stringContaining(wrong?.reason ?? 'no reason'),
        ]);
        const glance = mistake === 'anonymous' ? 'The server asks for credentials' : 'Refused:';
        expect(text).toContain(`<strong>${glance}`);
        if (mistake !== 'anonymous') expect(text).toContain('this check failed:');
      }
    }
  }
  const expected = Object.entries(REFUSALS).map(([at, [status, reason]]) => [
    at,
    [status, expect.stringContaining(reason)],
  ]);
  expect(refused).toEqual(Object.fromEntries(expected));
});

test('RFC 9635 section 7.2: a missing signature is marked at the check of the signature, not of the token', async () => {
  await using rs = await startPlayground(LOCAL);
  const { text } = await rs.perform('gnap', 'mistake=stripped', { Origin: LOCAL.resource });
  const results = lastChecksOf(text).map(({ result }) => result);
  const ofToken = ['the scheme', ...GNAP_TOKEN_STEPS];
  expect(results.indexOf('wrong')).toBe(ofToken.length);
});
