import type { Check } from '#shared/explain/checks.ts';
import type { Exchange } from './exchange.ts';
import { readRecorded, type Recorded } from './recorded.ts';
import type { Leg } from './run.ts';

/** The means of the checks of an exchange beside the messages. */
export type Surroundings = Pick<Recorded, 'url' | 'issuer' | 'clientKey' | 'redirectUri' | 'clock'>;

/**
 * Returns for each leg what the server that was asked has checked of its request, in order. Undefined: the exchange has no
 * list for it.
 */
export function checksOfLegs(
  { checks, checksBy }: Pick<Exchange, 'checks' | 'checksBy'>,
  legs: readonly Leg[],
  surroundings: Surroundings,
): readonly (readonly Check[] | undefined)[] {
  const read = legs.map(({ to, promised, noted, sent, received }) => ({
    ofParty: to === undefined ? checks : checksBy?.[to],
    promised,
    noted,
    asked: readRecorded(sent),
    answer: readRecorded(received),
  }));
  return read.map(({ ofParty, promised, ...leg }, at) =>
    promised ? undefined : ofParty?.({ ...surroundings, ...leg, earlier: read.slice(0, at) }),
  );
}
