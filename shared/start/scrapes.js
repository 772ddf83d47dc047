import { textOf } from '#shared/server/metrics/text-format.js';
import { listenForMetrics } from '#shared/server/metrics/listener.js';
import { merged } from '#shared/server/metrics/report.js';

/** @import { Clock } from '#shared/base/clock.ts' */
/** @import { MetricsAddress } from '#shared/server/metrics/listener.js' */
/** @import { Workers } from './workers.js' */

/**
 * Answers Prometheus scrapes for all workers of all servers. Rejects if it cannot listen. The module is loaded only if
 * the configuration has `metrics`, since the parent process should stay small.
 * @param {MetricsAddress} address
 * @param {readonly Workers[]} servers
 * @param {Pick<Clock, 'now'>} clock
 */
export async function answerScrapes(address, servers, clock) {
  const text = async () =>
    textOf(merged(await Promise.all(servers.map((server) => server.report()))));
  return listenForMetrics(address, text, clock);
}
