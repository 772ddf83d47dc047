import { METRICS } from './table.js';

/** @import { MetricKey } from './table.js' */
/** @import { Report } from './report.js' */

/** Media type of the text format of Prometheus, version 0.0.4. */
export const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Writes a report in the text format of Prometheus, version 0.0.4.
 * @param {Report} report
 */
export function textOf(report) {
  const keys = /** @type {readonly MetricKey[]} */ (Object.keys(METRICS));
  return keys.map((key) => familyOf(key, report[key] ?? [])).join('');
}

/**
 * @param {MetricKey} key
 * @param {NonNullable<Report[MetricKey]>} series
 */
function familyOf(key, series) {
  if (series.length === 0) return '';
  const { name, help, type, labels, ...more } = METRICS[key];
  const bounds = 'bounds' in more ? more.bounds : undefined;
  const lines = series.flatMap(([values, numbers]) => {
    const pairs = labels.map((label, index) => `${label}="${escaped(values[index] ?? '')}"`);
    if (bounds === undefined) return [`${name}{${pairs.join(',')}} ${numbers[0] ?? 0}`];
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((bound, index) => {
      count += numbers[index] ?? 0;
      return `${name}_bucket{${[...pairs, `le="${bound}"`].join(',')}} ${count}`;
    });
    const whole = `{${pairs.join(',')}}`;
    return [
      ...buckets,
      `${name}_sum${whole} ${numbers.at(-1) ?? 0}`,
      `${name}_count${whole} ${count}`,
    ];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

/** @type {Readonly<Record<string, string>>} */
const ESCAPES = { '\\': String.raw`\\`, '"': String.raw`\"`, '\n': String.raw`\n` };

/** @param {string} value */
const escaped = (value) => value.replaceAll(/[\\"\n]/g, (character) => ESCAPES[character] ?? '');
