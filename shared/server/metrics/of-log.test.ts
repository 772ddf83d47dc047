import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { closedSet } from './labels.ts';
import { createMetrics } from './metrics.ts';
import { measuredLog } from './of-log.ts';
import { REASONS } from './reasons.ts';
import { textOf } from './text-format.js';

/** The lines of the text after these requests, without histograms. */
function linesOf(event: string, ...requests: readonly LogFields[]): readonly string[] {
  const metrics = createMetrics('resource', 1);
  const log = measuredLog(silentLog, metrics, closedSet('space', ['documents', 'secret']));
  for (const request of requests) log.info(event, request);
  return textOf(metrics.report())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('duration_seconds_b'));
}

const GRANTED: LogFields = {
  method: 'GET',
  path: '/documents/"}',
  status: 200,
  milliseconds: 3,
  space: 'documents',
  scheme: 'DPoP',
  verdict: 'granted',
  subject: 'alice-id',
  client: 'app',
};

test('a request is counted with its space, method, status and scheme, and timed', () => {
  expect(linesOf('request', GRANTED)).toEqual([
    'countersign_http_requests_total{server="resource",space="documents",method="GET",status="200",scheme="DPoP"} 1',
    'countersign_http_request_duration_seconds_sum{server="resource",space="documents",class="2xx"} 0.003',
    'countersign_http_request_duration_seconds_count{server="resource",space="documents",class="2xx"} 1',
    'countersign_log_lines_total{server="resource",level="info"} 1',
  ]);
});

test('no path, name, client, address or user agent is in any metric', () => {
  const text = linesOf('request', {
    ...GRANTED,
    askedPath: '/leak',
    askedHost: 'leak.example',
    host: 'leak',
    verdict: 'refused',
    reason: 'nobody is leak',
    subject: 'leak',
    client: 'leak',
    application: 'leak',
  }).join('\n');
  expect(text).not.toMatch(/leak|alice|"\}"/);
  expect(text).toContain('reason="wrong-credentials"');
});

test('a line that stands for several routine requests counts them all', () => {
  expect(linesOf('request', { ...GRANTED, checks: 60 })[0]).toMatch(/ 60$/);
});

test('a clock that was set back makes no negative time', () => {
  expect(linesOf('request', { ...GRANTED, milliseconds: -5000 })[1]).toMatch(/ 0$/);
});

test('RFC 9576 section 3.3: requests with PrivateToken are counted without their space', () => {
  const line = { ...GRANTED, scheme: 'PrivateToken', subject: undefined };
  expect(linesOf('request', line, { ...line, verdict: 'refused', reason: 'used before' })).toEqual([
    'countersign_http_requests_total{server="resource",space="",method="GET",status="200",scheme="PrivateToken"} 2',
    expect.stringContaining('duration_seconds_sum{server="resource",space="",'),
    expect.stringContaining('duration_seconds_count{server="resource",space="",'),
    'countersign_refusals_total{server="resource",space="",reason="replayed"} 1',
    'countersign_log_lines_total{server="resource",level="info"} 2',
  ]);
});

test('requests of the forward proxy count, and connections that were refused', () => {
  for (const event of ['proxy.request', 'proxy.tunnel']) {
    expect(linesOf(event, GRANTED)[0]).toContain('http_requests_total');
  }
  expect(linesOf('refused', { status: 503, reason: 'too many' })[0]).toBe(
    'countersign_connections_refused_total{server="resource"} 1',
  );
});

test('tokens count by grant and scheme, if the answer has them', () => {
  const line = { method: 'POST', status: 200, grant: 'refresh_token', format: 'DPoP' };
  const lines = linesOf('request', line, { ...line, status: 503 }, { ...line, grant: 'x"}' });
  expect(lines.filter((each) => each.includes('tokens_issued'))).toEqual([
    'countersign_tokens_issued_total{server="resource",grant="refresh_token",format="DPoP"} 1',
    'countersign_tokens_issued_total{server="resource",grant="other",format="DPoP"} 1',
  ]);
});

test('sign-ins count by how and what came of it', () => {
  const line = { status: 422, signIn: 'password', signInResult: 'refused' } as const;
  expect(linesOf('request', line, line)).toContain(
    'countersign_signins_total{server="resource",how="password",result="refused"} 2',
  );
});

test.each([
  ['no credentials', 'no-credentials'],
  ['access token: expired at 2026-01-01T00:00:00.000Z', 'expired'],
  ['access token: revoked by grant', 'revoked'],
  ['access token: aud is another resource: https://a, not https://b', 'audience'],
  ['access token: iss is another issuer: https://a', 'issuer'],
  ['access token: the issuer has no such key', 'unknown-key'],
  ['access token: signature is wrong', 'proof'],
  ['DPoP proof: jti was used before', 'replayed'],
  ['nc was used before', 'replayed'],
  ['nonce is stale', 'expired'],
  ['unknown name or wrong password', 'wrong-credentials'],
  ['lacks documents:write', 'scope'],
  ['none of those whom the space allows', 'not-allowed'],
  ['the person must sign in with a second factor', 'step-up'],
  ['too many attempts', 'throttled'],
  ['Basic needs TLS: this connection is in clear text', 'clear-text'],
  ['sent by a page of another origin', 'cross-site'],
  ['a scheme that the space does not have', 'other-scheme'],
  ['Authorization is not of the form of credentials', 'malformed'],
  ['something new', 'other'],
  [undefined, 'other'],
])('the reason %j is of the kind %s', (reason, kind) => {
  const [, , , refusal] = linesOf('request', { ...GRANTED, verdict: 'refused', reason });
  expect(refusal).toBe(
    `countersign_refusals_total{server="resource",space="documents",reason="${kind}"} 1`,
  );
});

test('the kinds of reasons differ', () => {
  expect(new Set(REASONS.map(([kind]) => kind)).size).toBe(REASONS.length);
});
