/** @needs promtool */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configSchema } from '#shared/config/schema.ts';
import { METRICS } from '#shared/server/metrics/table.js';
import { examples } from '../pair/examples.ts';

/** The files for Prometheus and Grafana in docs/how-to/monitoring. */
const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../docs/how-to/monitoring/', import.meta.url));
const read = (name: string) => readFile(join(FOLDER, name), 'utf8');
const promtool = async (...args: readonly string[]) =>
  (await run('promtool', args, { cwd: FOLDER })).stdout;

test('promtool accepts the configuration and the rules, and the rules pass their tests', async () => {
  expect(await promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
  expect(await promtool('check', 'rules', 'countersign.rules.yml')).toContain('SUCCESS: 9 rules');
  expect(await promtool('test', 'rules', 'countersign.rules.test.yml')).toContain('SUCCESS');
});

test('each alert has a test in which it fires', async () => {
  const { groups } = parse(await read('countersign.rules.yml'));
  const { tests } = parse(await read('countersign.rules.test.yml'));
  interface Fired {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }
  const cases = (tests as { alert_rule_test: Fired[] }[]).flatMap((one) => one.alert_rule_test);
  const fired = cases.filter(({ exp_alerts: alerts }) => alerts.length > 0);
  const names = (groups as { rules: { alert: string }[] }[]).flatMap(({ rules }) => rules);
  expect(names.length).toBeGreaterThan(0);
  expect(new Set(fired.map(({ alertname }) => alertname))).toEqual(
    new Set(names.map(({ alert }) => alert)),
  );
});

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

async function expressions(): Promise<readonly string[]> {
  const { groups } = parse(await read('countersign.rules.yml'));
  const { panels } = JSON.parse(await read('grafana-dashboard.json')) as { panels: Panel[] };
  const rules = (groups as { rules: { expr: string }[] }[]).flatMap((group) => group.rules);
  return [...rules, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);
}

test('rules and dashboard use existing metrics and labels', async () => {
  const metrics = new Set<string>(
    Object.values(METRICS).flatMap(({ name, type }) =>
      type === 'histogram' ? [`${name}_bucket`] : [name],
    ),
  );
  const labels = new Set<string>([
    'le',
    'job',
    ...Object.values(METRICS).flatMap((metric) => metric.labels as readonly string[]),
  ]);
  const asked = await expressions();
  const names = asked.flatMap((expr) => expr.match(/\b(?:countersign|process|nodejs)_\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !metrics.has(name))).toEqual([]);
  const all = asked.join('\n');
  const grouped = [...all.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  const matched = [...all.matchAll(/[{,](\w+)(?:=|!=|=~)"/g)].map(([, label = '']) => label);
  const used = [...grouped, ...matched];
  expect(matched.length).toBeGreaterThan(3);
  expect(used.filter((label) => !labels.has(label))).toEqual([]);
});

test('each panel of the dashboard has a query and its own id', async () => {
  const { panels } = JSON.parse(await read('grafana-dashboard.json')) as { panels: Panel[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, targets } of panels) {
    expect([title, targets.length]).toEqual([expect.stringMatching(/\w/), expect.any(Number)]);
    expect(targets.length).toBeGreaterThan(0);
  }
});

test("the guide's configuration equals the listener's default", async () => {
  const [example = ''] = await examples('docs/how-to/watch.md', 'json metrics');
  const { metrics } = configSchema.parse(JSON.parse(example)).listen;
  expect(metrics).toEqual(configSchema.parse({ listen: { metrics: {} } }).listen.metrics);
  expect(configSchema.parse({}).listen.metrics).toBeUndefined();
});
