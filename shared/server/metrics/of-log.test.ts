import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { closedSet } from './labels.ts';
import { createMetrics } from './metrics.ts';
import { measuredLog } from './of-log.ts';
import { textOf } from './text-format.js';

/** Returns the lines of the metrics text after these requests, without histograms. */
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
    refusal: 'negotiate-no-person',
    reason: 'nobody is leak',
    subject: 'leak',
    client: 'leak',
    application: 'leak',
  }).join('\n');
  expect(text).not.toMatch(/leak|alice|"\}"/);
  expect(text).toContain('reason="wrong-credentials"');
});

test('a line for several routine requests counts all of them', () => {
  expect(linesOf('request', { ...GRANTED, checks: 60 })[0]).toMatch(/ 60$/);
});

test('a clock that was set back gives no negative duration', () => {
  expect(linesOf('request', { ...GRANTED, milliseconds: -5000 })[1]).toMatch(/ 0$/);
});

test('RFC 9576 section 3.3: requests with PrivateToken are counted without their space', () => {
  const line = { ...GRANTED, scheme: 'PrivateToken', subject: undefined };
  const used = { ...line, verdict: 'refused', refusal: 'private-token-used' } as const;
  expect(linesOf('request', line, used)).toEqual([
    'countersign_http_requests_total{server="resource",space="",method="GET",status="200",scheme="PrivateToken"} 2',
    expect.stringContaining('duration_seconds_sum{server="resource",space="",'),
    expect.stringContaining('duration_seconds_count{server="resource",space="",'),
    'countersign_refusals_total{server="resource",space="",reason="replayed"} 1',
    'countersign_log_lines_total{server="resource",level="info"} 2',
  ]);
});

test('requests of the forward proxy and refused connections are counted', () => {
  for (const event of ['proxy.request', 'proxy.tunnel']) {
    expect(linesOf(event, GRANTED)[0]).toContain('http_requests_total');
  }
  expect(linesOf('refused', { status: 503, reason: 'too many' })[0]).toBe(
    'countersign_connections_refused_total{server="resource"} 1',
  );
});

test('tokens are counted by grant and scheme, if the answer has tokens', () => {
  const line = { method: 'POST', status: 200, grant: 'refresh_token', format: 'DPoP' };
  const lines = linesOf('request', line, { ...line, status: 503 }, { ...line, grant: 'x"}' });
  expect(lines.filter((each) => each.includes('tokens_issued'))).toEqual([
    'countersign_tokens_issued_total{server="resource",grant="refresh_token",format="DPoP"} 1',
    'countersign_tokens_issued_total{server="resource",grant="other",format="DPoP"} 1',
  ]);
});

test('sign-ins are counted by method and result', () => {
  const line = { status: 422, signIn: 'password', signInResult: 'refused' } as const;
  expect(linesOf('request', line, line)).toContain(
    'countersign_signins_total{server="resource",how="password",result="refused"} 2',
  );
});

test.each([
  ['no-credentials', 'no-credentials'],
  ['token-expired', 'expired'],
  ['token-revoked', 'revoked'],
  ['token-audience', 'audience'],
  ['token-issuer', 'issuer'],
  ['token-key', 'unknown-key'],
  ['token-signature', 'proof'],
  ['proof-used', 'replayed'],
  ['vapid-expired', 'expired'],
  ['scram-sid', 'expired'],
  ['basic-password', 'wrong-credentials'],
  ['scope', 'scope'],
  ['too-many-attempts', 'throttled'],
  ['cross-site', 'cross-site'],
  ['of-no-table', 'other'],
  ['toString', 'other'],
  [undefined, 'other'],
])('the refusal %j is counted as %s, independently of its text', (refusal, label) => {
  const line = { ...GRANTED, verdict: 'refused', refusal, reason: 'no credentials' } as const;
  expect(linesOf('request', line)[3]).toBe(
    `countersign_refusals_total{server="resource",space="documents",reason="${label}"} 1`,
  );
});

test.each(['told', 'postponed', 'given-up'])(
  'an attempt to tell an application of an end is counted as %s, without the application',
  (result) => {
    expect(linesOf(`logout.${result}`, { client: 'app', subject: 'alice-id' })).toContain(
      `countersign_logouts_total{server="resource",result="${result}"} 1`,
    );
  },
);
