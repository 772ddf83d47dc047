import type { Log } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import type { Metrics } from './metrics.ts';
import {
  classLabel,
  formatLabel,
  grantLabel,
  howLabel,
  type Label,
  levelLabel,
  methodLabel,
  reasonLabel,
  resultLabel,
  schemeLabel,
  statusLabel,
} from './labels.ts';

/**
 * The scheme whose requests are counted without their space: no metric may link the issuing and the use of a token
 * (RFC 9576).
 */
const NAMELESS = 'PrivateToken';

type SpaceLabel = (realm: string | undefined) => Label<'space'>;

/**
 * Creates a log that counts each of its lines. So metrics contain no more about a request than its line does, in
 * hidden spaces, too, and every logged event is counted.
 */
export function measuredLog(log: Log, metrics: Metrics, spaceLabel: SpaceLabel): Log {
  function request(fields: LogFields) {
    const { space, scheme, method, status = 0, milliseconds = 0, checks = 1 } = fields;
    const { verdict, refusal, grant, format, signIn, signInResult } = fields;
    const where = spaceLabel(scheme === NAMELESS ? undefined : space);
    metrics.count(
      'requests',
      checks,
      where,
      methodLabel(method),
      statusLabel(status),
      schemeLabel(scheme),
    );
    // The duration is negative if the clock was set back meanwhile.
    metrics.observe('requestDuration', Math.max(0, milliseconds / 1000), where, classLabel(status));
    if (verdict === 'refused' || verdict === 'absent') {
      metrics.count('refusals', 1, where, reasonLabel(refusal));
    }
    // A grant whose answer failed has issued no token.
    if (grant !== undefined && status === 200) {
      metrics.count('tokensIssued', 1, grantLabel(grant), formatLabel(format));
    }
    if (signIn !== undefined) {
      metrics.count('signIns', 1, howLabel(signIn), resultLabel(signInResult));
    }
  }

  const events = new Map([
    ['request', request],
    ['proxy.request', request],
    ['proxy.tunnel', request],
    ['refused', () => metrics.count('connectionsRefused', 1)],
    ...['told', 'postponed', 'given-up'].map(
      (result) =>
        [`logout.${result}`, () => metrics.count('logouts', 1, resultLabel(result))] as const,
    ),
  ]);

  const at = (level: 'info' | 'warn' | 'error') => {
    const label = levelLabel(level);
    return (event: string, fields: LogFields = {}) => {
      metrics.count('logLines', 1, label);
      events.get(event)?.(fields);
      log[level](event, fields);
    };
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
