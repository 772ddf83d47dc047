import { LABELS as REASONS } from '#shared/refusals/refusal.ts';
import { METRICS } from '#shared/server/metrics/table.js';
import { code, GENERATED, table } from './markdown.ts';

/** How the values of several workers are combined. */
const MERGES = {
  sum: 'the sum of all workers, including ended workers',
  max: 'the greatest value of all workers',
  min: 'the smallest value of all workers',
  each: 'one value for each `worker`',
};

type LabelName = (typeof METRICS)[keyof typeof METRICS]['labels'][number];

/** Each label with its values. A missing label does not compile. */
const LABELS: Readonly<Record<LabelName, string>> = {
  server: '`authz` or `resource`',
  worker: 'number of the process, from `1`',
  space: 'realm of a space, as the configuration names it; empty: no space, or PrivateToken',
  method: 'a method of [Methods](methods.md), else `other`',
  status: 'a registered status code, else `other`',
  class: '`1xx` to `5xx`',
  scheme: 'authentication scheme; empty: none',
  reason: REASONS.map(code).join(', '),
  level: '`info`, `warn`, `error`',
  grant: 'grant type of OAuth, or `gnap`',
  format: '`Bearer`, `DPoP`, `GNAP`',
  how: '`password`, `passkey`, `second-factor`',
  result: '`done`, `goes-on` (a second step follows), `refused`',
  kind: 'the revoked object: `token`, `grant`, `key`, `person`, `client`',
  limit: 'the limit that refused',
  event: '`issued` (charged to a quota), `verified`, `redeemed`, `replayed`',
  operation: 'part of the store and its verb',
  state: '`published`, `signing`, `retiring`',
  alg: '`ES256`, `RS256`, `EdDSA`',
  at: '`p50`, `p99`, `max`',
};

/** The page of the metrics. */
export function metricsPage(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, merge, help }) => [
    code(name),
    type,
    labels.map(code).join(', '),
    MERGES[merge],
    help,
  ]);
  return [
    GENERATED,
    '# Metrics',
    '',
    'This page lists every metric that Prometheus can read at `listen.metrics`. It is for operators; [Watch it](../how-to/watch.md) says how to set it up.',
    '',
    'The answer at `/metrics` is in the text format 0.0.4. The listener answers only `GET` and `HEAD`, within ten seconds, on 32 connections at a time. Its numbers are at most a second old. On loopback the field `Host` must be `localhost` or an address. Otherwise a page in a browser could read the numbers under a host name of its own.',
    '',
    "No label has a name, an id, an address or a path. Each label has a closed set of values, so no client can make a new value. A metric reveals no more about hidden spaces than the log does. Requests with PrivateToken are counted without their space, since their times could link the place of a token's issuance and the place of its use.",
    '',
    '## Metrics',
    '',
    ...table(['Metric', 'Type', 'Labels', 'Of several workers', 'Meaning'], rows),
    '',
    '## Labels',
    '',
    ...table(
      ['Label', 'Values'],
      Object.entries(LABELS).map(([label, values]) => [code(label), values]),
    ),
    '',
  ].join('\n');
}
