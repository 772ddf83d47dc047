import type { Check } from '#shared/explain/checks.ts';
import type { Exchange } from './exchange.ts';
import { readRecorded, type Recorded } from './recorded.ts';
import type { Leg } from './run.ts';

/** The means of a server that do not stand in the messages. */
export type ServerMeans = Pick<
  Recorded,
  'tokens' | 'publicKeys' | 'tokenIssuer' | 'apiKey' | 'clock' | 'random' | 'url'
>;

/**
 * Returns for each leg what the server of the space checks of its request, in order. Undefined: the request goes to
 * another server, or the exchange has no list for it.
 */
export async function checksOfLegs(
  { checks }: Pick<Exchange, 'checks'>,
  legs: readonly Leg[],
  means: ServerMeans,
): Promise<readonly (readonly Check[] | undefined)[]> {
  const read = legs.map(({ sent, received, ...leg }) => ({
    ...leg,
    asked: readRecorded(sent),
    answer: readRecorded(received),
  }));
  return Promise.all(
    read.map(async ({ to, ...leg }, at) => {
      if (checks === undefined || to !== undefined) return undefined;
      return checks({ ...means, ...leg, earlier: read.slice(0, at) });
    }),
  );
}
