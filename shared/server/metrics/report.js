import { METRICS } from './table.js';

/** @import { MetricKey } from './table.js' */

/**
 * One time series: the values of the labels in the order of the table, and its numbers. A counter or gauge has one; a
 * histogram has the count of each bucket alone, that of all above, and the sum.
 * @typedef {readonly [labels: readonly string[], numbers: readonly number[]]} Series
 */

/**
 * The metrics of one process, or of several together.
 * @typedef {Readonly<Partial<Record<MetricKey, readonly Series[]>>>} Report
 */

/** @type {Readonly<Record<'sum' | 'max' | 'min' | 'each', (one: number, other: number) => number>>} */
const MERGE = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
  // Series of one worker have a label of their own: of two, the later report counts.
  each: (_, later) => later,
};

const KEYS = /** @type {readonly MetricKey[]} */ (Object.keys(METRICS));

/**
 * Puts together what several processes report.
 * @param {readonly Report[]} reports
 * @returns {Report}
 */
export function merged(reports) {
  return Object.fromEntries(
    KEYS.map((key) => {
      const merge = MERGE[METRICS[key].merge];
      /** @type {Map<string, Series>} */
      const all = new Map();
      for (const [labels, numbers] of reports.flatMap((report) => report[key] ?? [])) {
        const name = JSON.stringify(labels);
        const known = all.get(name)?.[1];
        const sum = known?.map((number, index) => merge(number, numbers[index] ?? 0)) ?? numbers;
        all.set(name, [labels, sum]);
      }
      return [key, [...all.values()]];
    }),
  );
}

/**
 * Returns what still counts of a process that has ended: a counter never goes back.
 * @param {Report} report
 * @returns {Report}
 */
export function lasting(report) {
  return Object.fromEntries(
    Object.entries(report).filter(
      ([key]) => METRICS[/** @type {MetricKey} */ (key)]?.merge === 'sum',
    ),
  );
}
