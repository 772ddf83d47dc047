import { expect, test } from '@jest/globals';
import { METHODS } from '#shared/http/methods.ts';
import {
  closedSet,
  type Label,
  levelLabel,
  methodLabel,
  schemeLabel,
  statusLabel,
} from './labels.ts';
import { createMetrics } from './metrics.ts';
import { lasting, merged } from './report.js';
import { textOf } from './text-format.js';

const spaceLabel = closedSet('space', ['documents', 'a"b\\c\nd']);
const requestLabels = (space: string, method = 'GET') =>
  [spaceLabel(space), methodLabel(method), statusLabel(200), schemeLabel('Basic')] as const;

test('a counter is one line for each set of labels', () => {
  const metrics = createMetrics('resource', 1);
  metrics.count('requests', 1, ...requestLabels('documents'));
  metrics.count('requests', 2, ...requestLabels('documents'));
  metrics.count('requests', 1, ...requestLabels('documents', 'PUT'));
  expect(textOf(metrics.report()).split('\n').slice(1)).toEqual([
    '# TYPE countersign_http_requests_total counter',
    'countersign_http_requests_total{server="resource",space="documents",method="GET",status="200",scheme="Basic"} 3',
    'countersign_http_requests_total{server="resource",space="documents",method="PUT",status="200",scheme="Basic"} 1',
    '',
  ]);
});

test('quotes, backslashes and line breaks in a realm are escaped in labels', () => {
  const metrics = createMetrics('resource', 1);
  metrics.count('requests', 1, ...requestLabels('a"b\\c\nd'));
  const lines = textOf(metrics.report()).split('\n');
  expect(lines).toHaveLength(4);
  expect(lines[2]).toContain(String.raw`space="a\"b\\c\nd",method`);
});

test('10,000 methods, realms and statuses of a client make no more time series than the fixed sets have', () => {
  const metrics = createMetrics('resource', 1);
  for (let index = 0; index < 10_000; index += 1) {
    metrics.count('requests', 1, ...requestLabels(`s${index}`, `M${index}"} 1\nfake{x="`));
    metrics.count(
      'requests',
      1,
      spaceLabel('documents'),
      methodLabel('GET'),
      statusLabel(index),
      schemeLabel(`x${index}`),
    );
  }
  const text = textOf(metrics.report());
  expect(text).not.toContain('fake');
  expect(text.split('\n').length).toBeLessThan(80);
  expect(text).toContain('space="other",method="other",status="200",scheme="Basic"} 10000');
});

test('every method of the table is a label, only in its exact spelling', () => {
  for (const method of METHODS.keys()) expect(methodLabel(method)).toBe(method);
  expect([methodLabel('get'), methodLabel('__proto__'), methodLabel(undefined)]).toEqual([
    'other',
    'other',
    '',
  ]);
});

test('the types refuse plain strings, labels of another name, and labels in another order', () => {
  const metrics = createMetrics('resource', 1);
  const level: Label<'level'> = levelLabel('info');
  // @ts-expect-error A text of a client is no label.
  metrics.count('logLines', 1, 'info');
  // @ts-expect-error A label of another name.
  metrics.count('refusals', 1, level, level);
  // @ts-expect-error A label is missing.
  metrics.count('logLines', 1);
  // @ts-expect-error A gauge does not count.
  metrics.count('feedEntries', 1);
  metrics.count('logLines', 1, level);
  expect(metrics.report()).toHaveProperty('logLines');
});

test('a histogram counts a value in each bucket whose bound is not below the value', () => {
  const metrics = createMetrics('resource', 1);
  const operation = closedSet('operation', ['limits.spend'])('limits.spend');
  for (const seconds of [0.0001, 0.0002, 7]) metrics.observe('storeDuration', seconds, operation);
  const values = textOf(metrics.report())
    .split('\n')
    .slice(2, -1)
    .map((line) => line.split(' ').at(-1));
  expect(values).toEqual([
    '1',
    ...Array<string>(12).fill('2'),
    '3',
    String(0.0001 + 0.0002 + 7),
    '3',
  ]);
});

test('with several workers counters are summed, the worst gauge is shown, and each process has its own label', () => {
  const one = createMetrics('authz', 1);
  const two = createMetrics('authz', 2);
  one.count('connectionsRefused', 2);
  two.count('connectionsRefused', 3);
  one.set('ready', 1);
  two.set('ready', 0);
  one.set('feedLag', 0.5);
  two.set('feedLag', 2);
  one.set('residentMemory', 10);
  two.set('residentMemory', 20);
  const lines = textOf(merged([one.report(), two.report()]))
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  expect(lines).toEqual([
    'countersign_connections_refused_total{server="authz"} 5',
    'countersign_ready{server="authz"} 0',
    'countersign_feed_lag_seconds{server="authz"} 2',
    'process_resident_memory_bytes{server="authz",worker="1"} 10',
    'process_resident_memory_bytes{server="authz",worker="2"} 20',
    '',
  ]);
});

test('only the counters of an ended process are kept', () => {
  const metrics = createMetrics('authz', 1);
  metrics.count('connectionsRefused', 2);
  metrics.set('ready', 0);
  metrics.set('cpu', 9);
  expect(lasting(metrics.report())).toEqual({ connectionsRefused: [[['authz'], [2]]] });
});
