import type { Check } from '#shared/explain/checks.ts';
import type { Exchange } from './exchange.ts';
import { readRecorded, type Recorded } from './recorded.ts';
import type { Leg } from './run.ts';

/** The means of a server that do not stand in the messages. */
export type ServerMeans = Pick<
  Recorded,
  | 'tokens'
  | 'pairTokens'
  | 'publicKeys'
  | 'tokenIssuer'
  | 'apiKey'
  | 'issuer'
  | 'clientKey'
  | 'redirectUri'
  | 'clock'
  | 'random'
  | 'url'
>;

/**
 * Returns for each leg what the server that is asked checks of its request, in order. Undefined: the exchange has no list
 * for it.
 */
export async function checksOfLegs(
  { checks, checksBy }: Pick<Exchange, 'checks' | 'checksBy'>,
  legs: readonly Leg[],
  means: ServerMeans,
): Promise<readonly (readonly Check[] | undefined)[]> {
  const read = legs.map(({ sent, received, ...leg }) => ({
    ...leg,
    asked: readRecorded(sent),
    answer: readRecorded(received),
  }));
  return Promise.all(
    read.map(async ({ to, promised, ...leg }, at) => {
      if (promised) return undefined;
      const ofParty = to === undefined ? checks : checksBy?.[to];
      return ofParty?.({ ...means, ...leg, earlier: read.slice(0, at) });
    }),
  );
}
