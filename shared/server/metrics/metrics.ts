import type { Label } from './labels.ts';
import type { Report, Series } from './report.js';
import { type MetricKey, METRICS } from './table.js';

type Table = typeof METRICS;

/** The labels that a caller passes; the process adds its server and worker. */
type Given<Names extends readonly string[]> = Names extends readonly [
  infer First extends string,
  ...infer Rest extends readonly string[],
]
  ? First extends 'server' | 'worker'
    ? Given<Rest>
    : [Label<First>, ...Given<Rest>]
  : [];

type OfType<Type extends Table[MetricKey]['type']> = {
  [Key in MetricKey]: Table[Key]['type'] extends Type ? Key : never;
}[MetricKey];
type Counted = OfType<'counter'>;
type Observed = OfType<'histogram'>;
/** The metrics whose current value is read from the system, such as CPU time. */
type Read = OfType<'gauge'> | 'cpu';
type LabelsOf<Key extends MetricKey> = Given<Table[Key]['labels']>;

/** Holds the time series of a metric: a Map for each label but the last, which costs less than one joined key. */
type Branch = Map<string, Branch | number[]>;

/** The metrics of this process. Counters stay in memory until the process ends. */
export interface Metrics {
  count<Key extends Counted>(key: Key, amount: number, ...labels: LabelsOf<Key>): void;
  /** `value`: seconds. */
  observe<Key extends Observed>(key: Key, value: number, ...labels: LabelsOf<Key>): void;
  set<Key extends Read>(key: Key, value: number, ...labels: LabelsOf<Key>): void;
  report(): Report;
}

export function createMetrics(server: string, worker: number): Metrics {
  const own: Readonly<Record<string, string>> = { server, worker: String(worker) };
  const roots = new Map<MetricKey, Branch>();
  const all = new Map<MetricKey, Series[]>();

  function add(key: MetricKey, given: readonly string[], size: number): number[] {
    const rest = [...given];
    const labels = METRICS[key].labels.map((name) => own[name] ?? rest.shift() ?? '');
    const numbers = Array<number>(size).fill(0);
    const series = all.get(key) ?? [];
    series.push([labels, numbers]);
    all.set(key, series);
    return numbers;
  }

  /** Returns the numbers of a series, initially zeros. */
  function numbersOf(key: MetricKey, labels: readonly string[], size = 1): number[] {
    let branch = roots.get(key);
    if (branch === undefined) roots.set(key, (branch = new Map()));
    const last = labels.length - 1;
    for (let index = 0; index < last; index += 1) {
      const label = labels[index] ?? '';
      let next = branch.get(label) as Branch | undefined;
      if (next === undefined) branch.set(label, (next = new Map()));
      branch = next;
    }
    const label = labels[last] ?? '';
    let numbers = branch.get(label) as number[] | undefined;
    if (numbers === undefined) branch.set(label, (numbers = add(key, labels, size)));
    return numbers;
  }

  return {
    count(key, amount, ...labels) {
      const numbers = numbersOf(key, labels);
      numbers[0] = (numbers[0] ?? 0) + amount;
    },
    observe(key, value, ...labels) {
      const { bounds } = METRICS[key];
      const numbers = numbersOf(key, labels, bounds.length + 2);
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
      numbers[bucket] = (numbers[bucket] ?? 0) + 1;
      const sum = bounds.length + 1;
      numbers[sum] = (numbers[sum] ?? 0) + value;
    },
    set(key, value, ...labels) {
      numbersOf(key, labels)[0] = value;
    },
    report: () => Object.fromEntries(all),
  };
}
